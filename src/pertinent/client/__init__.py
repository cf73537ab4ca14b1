"""A small client of the server: Python's own library is all that it needs.

Examples
--------
>>> from pertinent.client import Client
>>> client = Client("http://127.0.0.1:8765", token=None)
>>> client
<Client of http://127.0.0.1:8765>
"""

from pertinent.client.answers import Explained, Page, Prediction, Row, Verdict
from pertinent.client.asking import Client, ServerError

__all__ = ["Client", "Explained", "Page", "Prediction", "Row", "ServerError", "Verdict"]
