import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { request } from 'undici';
import { tellStory } from './demo/checks.ts';
import { buyEverything } from './demo/purchases.ts';
import { hearEverything, readHistory, readStreams, walkLists } from './demo/read-back.ts';
import { createApi } from './harness/api.ts';
import { startReceiver } from './harness/receiver.ts';
import { readStackFiles, type StackFiles } from './harness/stack-files.ts';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));

/** The stack that runs now, or null with a sentence that says what to do. */
const runningStack = async (): Promise<StackFiles | null> => {
  const dataDir = resolve(CHECKOUT, process.env.DATA_DIR || '.data');
  try {
    const stack = readStackFiles(dataDir);
    const { statusCode, body } = await request(`${stack.baseUrl}/health`, { signal: AbortSignal.timeout(3_000) });
    await body.dump();
    if (statusCode === 200) return stack;
  } catch {
    // Said below.
  }
  console.error(
    `nothing runs on ${dataDir}: run "npm start" in another terminal first (or set DATA_DIR to its folder)`,
  );
  return null;
};

/** Of an address, without its credentials. */
const hostOf = (address: string): string => new URL(address).host;

/** The main job on real input, told and checked. Returns whether all of it was as it must be. */
const demo = async (stack: StackFiles): Promise<boolean> => {
  const story = tellStory((line) => console.log(line));
  const api = createApi(stack);
  const receiver = await startReceiver();
  const path = `/demo-${randomUUID()}`;
  const since = new Date().toISOString();

  story.chapter('A webhook, on an endpoint of this demo');
  const {
    id: webhookId,
    secret,
    is_enabled,
  } = await api.createWebhook({
    url: receiver.urlOf(path),
    events: ['order:created', 'order:updated', 'order:paid', 'payment:applied', 'payment:failed', 'payment:refunded'],
  });
  try {
    story.same(`${webhookId} starts disabled`, is_enabled, false);
    await api.updateWebhook(webhookId, { is_enabled: true });

    story.chapter(`Orders, created and paid at ${stack.baseUrl}`);
    const bought = await buyEverything(api, story, `demo-${randomUUID().slice(0, 8)}`);

    story.chapter('The lists, page by page');
    await walkLists(api, story, bought, since);

    story.chapter('What happened to the first of them');
    await readHistory(api, story, bought);

    story.chapter(`The streams, read back from EventStoreDB at ${hostOf(stack.eventstoreUrl)}`);
    await readStreams(stack, story, bought);

    story.chapter(`The events on Kafka at ${stack.kafkaBrokers}, and the webhooks`);
    await hearEverything({ stack, receiver, path, secret }, story, bought);
  } finally {
    await api.deleteWebhook(webhookId);
    await Promise.all([api.close(), receiver.close()]);
  }
  const { passed, failed } = story.checks();
  console.log(`\n${passed} checks passed, ${failed} failed`);
  return failed === 0;
};

const stack = await runningStack();
try {
  process.exitCode = stack && (await demo(stack)) ? 0 : 1;
} catch (error) {
  console.error(`\nthe demo broke off: ${(error as Error).message}`);
  process.exitCode = 1;
}
