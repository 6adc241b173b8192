import type { Writable } from 'node:stream';

const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Creates a function that writes lines to `stream`. Drops lines while more than 1 MiB is buffered, and prints the
 *  number of dropped lines later. A paused terminal therefore never blocks the stack. Ignores lines after the stream
 *  is closed. */
export const createLineWriter = (stream: Writable): ((line: string) => void) => {
  let dropped = 0;
  // Without a listener, the error of a closed pipe (EPIPE) would end the process.
  stream.on('error', () => {});
  return (line) => {
    if (!stream.writable) return;
    if (stream.writableLength > MAX_BUFFERED_BYTES) {
      dropped += 1;
      return;
    }
    const lines = dropped === 1 ? '1 line was' : `${dropped} lines were`;
    if (dropped > 0) stream.write(`(${lines} dropped because the output was not read)\n`);
    dropped = 0;
    stream.write(`${line}\n`);
  };
};
