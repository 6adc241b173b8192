import type { Socket } from 'node:net';
import { MalformedRequest } from './protocol/request-reader.ts';

const LENGTH_BYTES = 4;

/** Reads the requests of a connection, each without its length prefix. Memory grows with the bytes received, not with
 *  the length announced, and counts in `partialRequests`. Throws MalformedRequest for a length that is negative or
 *  above `maxBytes`. */
export async function* readFrames(
  socket: Socket,
  maxBytes: number,
  partialRequests: PartialRequests,
): AsyncGenerator<Buffer> {
  try {
    yield* splitFrames(socket, maxBytes, (bytes) => partialRequests.set(socket, bytes));
  } finally {
    partialRequests.set(socket, 0);
  }
}

async function* splitFrames(
  socket: Socket,
  maxBytes: number,
  reportPending: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let available = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    available += chunk.length;
    while (available >= LENGTH_BYTES) {
      if (chunks[0]!.length < LENGTH_BYTES) chunks = [Buffer.concat(chunks)];
      const length = chunks[0]!.readInt32BE(0);
      if (length < 0 || length > maxBytes)
        throw new MalformedRequest(`a request has ${length} bytes, ${maxBytes} are allowed`);
      const end = LENGTH_BYTES + length;
      if (available < end) break;
      const all = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
      yield all.subarray(LENGTH_BYTES, end);
      available -= end;
      chunks = available > 0 ? [all.subarray(end)] : [];
    }
    reportPending(available);
  }
}

// Up to this size, a copy costs less than a system call that gathers the parts.
const MAX_JOINED_BYTES = 64 * 1024;

/** Sends one response, of several parts, and waits until the client has read enough to send the next one. */
export const writeFrame = async (socket: Socket, parts: readonly Buffer[]): Promise<void> => {
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  length.writeInt32BE(bytes);
  if (bytes <= MAX_JOINED_BYTES) socket.write(Buffer.concat([length, ...parts], LENGTH_BYTES + bytes));
  else {
    socket.cork();
    for (const part of [length, ...parts]) socket.write(part);
    socket.uncork();
  }
  if (socket.writableNeedDrain) await drained(socket);
};

const drained = (socket: Socket): Promise<void> =>
  new Promise((done) => {
    const finish = () => {
      socket.off('drain', finish).off('close', finish);
      done();
    };
    socket.on('drain', finish).on('close', finish);
  });

/** The part of a connection that the bound needs. */
interface Closable {
  readonly destroy: (reason: Error) => unknown;
}

/** Bounds the memory for requests of which only a part has arrived, of all connections together. Beyond the bound, the
 *  connection with the largest part is closed: ordinary clients have small parts, and only for a moment. */
export class PartialRequests {
  private readonly sizes = new Map<Closable, number>();
  private total = 0;
  private readonly maxBytes: number;
  private readonly reasonToClose: (maxBytes: number) => Error;

  constructor(maxBytes: number, reasonToClose: (maxBytes: number) => Error) {
    this.maxBytes = maxBytes;
    this.reasonToClose = reasonToClose;
  }

  /** Records that `connection` holds `bytes` now. */
  set(connection: Closable, bytes: number): void {
    this.total += bytes - (this.sizes.get(connection) ?? 0);
    if (bytes > 0) this.sizes.set(connection, bytes);
    else this.sizes.delete(connection);
    while (this.total > this.maxBytes) this.closeLargest();
  }

  private closeLargest(): void {
    const [largest] = [...this.sizes].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
    this.set(largest, 0);
    largest.destroy(this.reasonToClose(this.maxBytes));
  }
}
