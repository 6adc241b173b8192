/** Why a delivery was refused. */
export type VerificationFault =
  | 'missing_header'
  | 'malformed_header'
  /** No signature matches: the secret is another webhook's, the body was changed or parsed, or the gateway did not send
   *  it. */
  | 'signature_mismatch'
  /** The signature is valid, but the delivery is older than the tolerance: it may be a recorded one that somebody sent
   *  again. */
  | 'timestamp_too_old'
  /** The signature is valid, but its time is in the future: check the clock of this machine. */
  | 'timestamp_too_new'
  /** The signature is valid, but the body is not a webhook event. */
  | 'malformed_body';

/** The delivery must not be trusted. Answer it with 400 and do nothing else. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly fault: VerificationFault;

  constructor(fault: VerificationFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
