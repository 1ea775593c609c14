"""The codes of the type checker, for `counterpoint explain CODE`.

E20x names, E22x and E23x types and values, E24x to E26x statements, E27x and E28x the rest of a model, W2xx warnings.
"""

from __future__ import annotations

from spec.checking.codes.model_codes import MODEL_CODES
from spec.checking.codes.name_codes import NAME_CODES
from spec.checking.codes.protocol_codes import PROTOCOL_CODES
from spec.checking.codes.value_codes import VALUE_CODES
from spec.checking.codes.warning_codes import WARNING_CODES
from spec.diagnostic import Code

TYPE_CODES: tuple[Code, ...] = (*NAME_CODES, *VALUE_CODES, *PROTOCOL_CODES, *MODEL_CODES, *WARNING_CODES)
