import json

from standardwebhooks.webhooks import Webhook as WebhookVerifier


def receive(raw_body, headers, secret):
    """Returns an event, its id and its number. Raises WebhookVerificationError for a delivery to answer with 400."""
    names = {name.lower(): value for name, value in headers.items()}
    WebhookVerifier(secret).verify(raw_body, names)
    return json.loads(raw_body), names["webhook-id"], int(names.get("x-sequence", 0))
