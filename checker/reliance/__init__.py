"""Why a proof holds: the parts of the model without which it does not."""
