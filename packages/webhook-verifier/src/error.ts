/** What was wrong with a delivery, to decide by. */
export type VerificationFault =
  | 'missing_header'
  | 'malformed_header'
  /** No signature is of these bytes under any of the secrets: another secret, another body, or not ours. */
  | 'signature_mismatch'
  /** It is ours, and was sent longer ago than is tolerated: perhaps recorded and sent again by somebody else. */
  | 'timestamp_too_old'
  | 'timestamp_too_new'
  /** It is ours, and not the event of a webhook. */
  | 'malformed_body';

/** The delivery is not to be trusted: answer it with 400, and do nothing. */
export class WebhookVerificationError extends Error {
  override readonly name = 'WebhookVerificationError';
  readonly fault: VerificationFault;

  constructor(fault: VerificationFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
