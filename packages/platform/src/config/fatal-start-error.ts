/** The service must not run with this configuration. A retry cannot succeed; the message tells the operator what to
 *  change. */
export class FatalStartError extends Error {
  override readonly name: string = 'FatalStartError';
}
