import type { Writable } from 'node:stream';

const MOST_WAITING_BYTES = 1024 * 1024;

/** Writes lines to a stream that may be read slowly, or not at all, or be closed: what cannot be taken is dropped and counted,
 *  so that nobody who stopped reading ever stops the processes behind it. */
export const lineOutput = (stream: Writable): ((line: string) => void) => {
  let dropped = 0;
  stream.on('error', () => {});
  return (line) => {
    if (!stream.writable) return;
    if (stream.writableLength > MOST_WAITING_BYTES) {
      dropped += 1;
      return;
    }
    if (dropped > 0) stream.write(`(${dropped} lines were dropped: nobody read them)\n`);
    dropped = 0;
    stream.write(`${line}\n`);
  };
};
