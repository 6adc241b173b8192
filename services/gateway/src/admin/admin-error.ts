/** An expected failure of an admin command. The message is printed to the operator. */
export class AdminError extends Error {
  override readonly name = 'AdminError';
}
