import { request } from 'node:http';

/** Keeps pages open, as browsers do: one stream of events each. Runs as its own process, so that its memory and CPU are
 *  not those of what is measured. Reads a list of URLs from its parent, then answers how many streams have begun, and
 *  how many have been told of a change since. */
export interface PayersMessage {
  readonly begun: number;
  readonly told: number;
  /** `performance.now` plus `performance.timeOrigin` of the last change. */
  readonly lastToldAtMs: number;
  readonly refused: number;
}

const OPENING_AT_A_TIME = 100;
const REPORT_EVERY_MS = 50;
const CHANGED = 'event: changed';

const counts = { begun: 0, told: 0, lastToldAtMs: 0, refused: 0 };

/** Resolves once the first version has arrived. */
const open = (url: string): Promise<void> =>
  new Promise((done) => {
    let hasBegun = false;
    const refuse = () => {
      counts.refused += 1;
      done();
    };
    request(url, { agent: false, headers: { accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) return refuse();
      response.on('data', (chunk: Buffer) => {
        if (!chunk.includes(CHANGED)) return;
        if (hasBegun) {
          counts.told += 1;
          counts.lastToldAtMs = performance.timeOrigin + performance.now();
          return;
        }
        hasBegun = true;
        counts.begun += 1;
        done();
      });
    })
      .on('error', refuse)
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
