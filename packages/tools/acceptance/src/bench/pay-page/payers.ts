import { request } from 'node:http';

// The script of a child process: it opens the URLs that its parent sends, and ends with it.

/** What a process of payers reports all the time: it keeps pages open and counts their changes. */
export interface PayersMessage {
  readonly opened: number;
  readonly changed: number;
  /** Of the last change, in Unix milliseconds. */
  readonly lastChangeAtMs: number;
}

const OPENING_AT_A_TIME = 24;
/** A gateway that is overloaded refuses a stream. A browser comes back too. */
const RETRY_AFTER_MS = 500;
const REPORT_EVERY_MS = 50;
const CHANGED = 'event: changed';

const counts = { opened: 0, changed: 0, lastChangeAtMs: 0 };

/** Resolves once the first version has arrived. Retries until then; a stream that ends later stays closed. */
const open = (url: string): Promise<void> =>
  new Promise((done) => {
    let isOpen = false;
    const retry = () => void setTimeout(() => void open(url).then(done), RETRY_AFTER_MS);
    // Each page has a connection of its own, as those of different payers have.
    request(url, { agent: false, headers: { accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        return retry();
      }
      response.on('data', (chunk: Buffer) => {
        // The gateway writes each event at once, so a chunk is an event.
        if (!chunk.includes(CHANGED)) return;
        if (isOpen) {
          counts.changed += 1;
          // Unix time with fractions of a millisecond, which Date.now() lacks.
          counts.lastChangeAtMs = performance.timeOrigin + performance.now();
          return;
        }
        isOpen = true;
        counts.opened += 1;
        done();
      });
    })
      .on('error', retry)
      .end();
  });

process.on('message', async (urls: string[]) => {
  const queue = [...urls];
  const opener = async () => {
    for (let url = queue.shift(); url; url = queue.shift()) await open(url);
  };
  await Promise.all(Array.from({ length: OPENING_AT_A_TIME }, opener));
});
setInterval(() => process.send?.(counts satisfies PayersMessage), REPORT_EVERY_MS);
process.on('disconnect', () => process.exit());
