import { request } from 'node:http';

/** A process that keeps pages open and counts what they are told. */
export interface PayersMessage {
  readonly begun: number;
  readonly told: number;
  /** `performance.now` plus `performance.timeOrigin` of the last change. */
  readonly lastToldAtMs: number;
  readonly refusals: number;
}

const OPENING_AT_A_TIME = 24;
/** A gateway that is overloaded refuses a stream. A browser comes back too. */
const AGAIN_AFTER_MS = 500;
const REPORT_EVERY_MS = 50;
const CHANGED = 'event: changed';

const counts = { begun: 0, told: 0, lastToldAtMs: 0, refusals: 0 };

/** Resolves once the first version has arrived. */
const open = (url: string): Promise<void> =>
  new Promise((done) => {
    let hasBegun = false;
    const tryAgain = () => {
      counts.refusals += 1;
      setTimeout(() => void open(url).then(done), AGAIN_AFTER_MS);
    };
    request(url, { agent: false, headers: { accept: 'text/event-stream' } }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        return tryAgain();
      }
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
      .on('error', tryAgain)
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
