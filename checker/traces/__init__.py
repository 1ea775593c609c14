"""Files with traces and pictures of them."""
