import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import { orderBody } from '../../harness/order-bodies.ts';

/** One load: `connections` requests at a time, or `perSecond` requests a second whether or not they are answered. */
export interface Load {
  readonly baseUrl: string;
  readonly apiKeys: readonly string[];
  readonly forMs: number;
  readonly connections?: number;
  readonly perSecond?: number;
}

/** One answer. */
export interface Answer {
  /** 0 when the connection failed. */
  readonly status: number;
  readonly tookMs: number;
  /** How late the generator sent the request. */
  readonly lateMs: number;
}

export interface LoadResult {
  readonly answers: readonly Answer[];
  /** From the start of the load to its last answer. */
  readonly elapsedMs: number;
  /** CPU seconds of the generator. */
  readonly cpuSeconds: number;
}

// Creates orders in a process of its own: it shares the CPUs with the stack, but not its event loops. Each message is a
// load; the answer is its result.
const BODY = JSON.stringify(orderBody());
const TICK_MS = 2;
/** After a refusal, where requests follow each other. */
const PAUSE_MS = 100;

const idle: Client[] = [];

const send = (load: Load, n: number, dueMs: number, done: (answer: Answer) => void): void => {
  const client = idle.pop() ?? new Client(load.baseUrl, { pipelining: 1, headersTimeout: 60_000 });
  let status = 0;
  const sentMs = performance.now();
  const finish = () => {
    if (status > 0) idle.push(client);
    else client.destroy().catch(() => {});
    done({ status, tookMs: performance.now() - sentMs, lateMs: sentMs - dueMs });
  };
  client.dispatch(
    {
      method: 'POST',
      path: '/v1/orders',
      headers: { 'x-api-key': load.apiKeys[n % load.apiKeys.length]!, 'content-type': 'application/json' },
      body: BODY,
    },
    {
      onRequestStart: () => {},
      onResponseStart: (_controller, statusCode) => void (status = statusCode),
      onResponseData: () => {},
      onResponseEnd: finish,
      onResponseError: () => {
        status = 0;
        finish();
      },
    },
  );
};

const run = async (load: Load): Promise<LoadResult> => {
  const answers: Answer[] = [];
  const cpu = process.cpuUsage();
  const began = performance.now();
  const elapsed = () => performance.now() - began;
  let sent = 0;
  const create = (dueMs: number, next: (answer: Answer) => void) =>
    send(load, sent++, dueMs, (answer) => {
      answers.push(answer);
      next(answer);
    });
  if (load.connections !== undefined) {
    const one = async () => {
      while (elapsed() < load.forMs) {
        const { status } = await new Promise<Answer>((done) => create(performance.now(), done));
        if (status >= 400) await sleep(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: load.connections }, one));
  } else {
    const everyMs = 1_000 / load.perSecond!;
    const total = Math.floor(load.forMs / everyMs);
    let answered = 0;
    while (sent < total) {
      // A timer that fires late does not lower the rate.
      while (sent < total && sent * everyMs <= elapsed()) create(began + sent * everyMs, () => (answered += 1));
      await sleep(TICK_MS);
    }
    while (answered < total) await sleep(TICK_MS);
  }
  const { user, system } = process.cpuUsage(cpu);
  return { answers, elapsedMs: elapsed(), cpuSeconds: (user + system) / 1e6 };
};

process.on('message', async (load: Load) => {
  const result = await run(load);
  process.send!(result);
  // Connections that the next load does not need cost the stack memory.
  for (const client of idle.splice(200)) await client.close();
});
process.on('disconnect', () => process.exit());
