/** Thrown by a handler, or before a commit: what was handled since the last committed offsets is lost. The consumer goes
 *  back to them. */
export class RewindError extends Error {
  override readonly name = 'RewindError';
}
