import { WebhookEventType } from '@cpg/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import { readKafkaLog } from '../harness/kafka-log.ts';
import { openShop } from '../harness/merchants.ts';
import { startProxiedStack } from '../harness/proxies.ts';
import { startReceiver, verifyDelivery } from '../harness/receiver.ts';
import { startShoppers } from '../harness/shoppers.ts';
import { until } from '../harness/until.ts';
import { faultsIn } from './checks.ts';
import { startDisruptions } from './disruptions.ts';
import { seededRandom } from '../harness/random.ts';
import { runScenario, SCENARIOS } from './scenarios.ts';

export interface ChaosOptions {
  readonly seconds: number;
  /** Determines the disruptions and the scenarios of the shoppers. */
  readonly seed: number;
  /** Services find the event store by gossip, and it is unavailable for up to 8 s again and again. */
  readonly discover?: boolean;
  /** Two instances of every service, which share the shards of the log. */
  readonly scale?: boolean;
  /** Gets a line for each step. */
  readonly log: (line: string) => void;
}

export interface ChaosReport {
  readonly orders: number;
  readonly disruptions: number;
  readonly attempts: number;
  /** One sentence for each inconsistency found afterwards. */
  readonly faults: readonly string[];
}

const SHOPPERS = 6;
/** Between two scenarios of a shopper. */
const PAUSE_MS = 50;
const HOOK = '/hook';
/** Every 23rd attempt on the merchant's endpoint fails. */
const FAILING_ATTEMPT = 23;

/** Disrupts a stack with two dispatchers, or with two instances of every service, for `seconds`, under load from
 *  shoppers that retry until they get an answer. Then compares what was acknowledged with what is stored and delivered.
 *  Throws if a client got an answer that must not occur. */
export const runChaos = async ({
  seconds,
  seed,
  discover = false,
  scale = false,
  log,
}: ChaosOptions): Promise<ChaosReport> => {
  const { stack, proxies, stop } = await startProxiedStack({
    scale: scale ? 'gateway=2,orders=2,payments=2,webhook-dispatcher=2' : 'webhook-dispatcher=2',
    discover,
    env: {
      WEBHOOK_RETRY_SECONDS: '1,1,2,2,2,5,5,5,5,5,5,5,5,5,5,5,5',
      ...(scale && { LOG_SHARDS: '2' }),
    },
  });
  const closing: (() => unknown)[] = [stop];
  try {
    const receiver = await startReceiver();
    closing.push(receiver.close);
    const shop = await openShop(stack);
    closing.push(shop.api.close);
    const webhook = await shop.api.createWebhook({
      url: receiver.urlOf(HOOK),
      events: [...WebhookEventType.options],
    });
    await shop.api.updateWebhook(webhook.id, { is_enabled: true });
    let attempts = 0;
    const unverified: string[] = [];
    receiver.answer(HOOK, (attempt) => {
      attempts += 1;
      // Verified on arrival, because signatures expire after five minutes.
      try {
        verifyDelivery(attempt, webhook.secret);
      } catch (error) {
        unverified.push(`${attempt.headers['x-idempotency-key']} does not verify: ${String(error)}`);
      }
      return attempts % FAILING_ATTEMPT === 0 ? 503 : 204;
    });

    log(`${seconds} s of disruptions, event store at ${stack.eventstoreUrl}, SEED=${seed}`);
    const shopperRandom = seededRandom(seed + 1);
    const shoppers = startShoppers(SHOPPERS, async () => {
      const acknowledged = await runScenario(shop.api, shopperRandom.pick(Object.keys(SCENARIOS)));
      await sleep(PAUSE_MS);
      return acknowledged;
    });
    const disruptions = startDisruptions({
      dataDir: stack.dataDir,
      proxies,
      random: seededRandom(seed),
      outages: discover,
      log,
    });
    // Ends early if a shopper fails; `stop` then throws its error.
    await until('a shopper to fail', shoppers.failed, { withinMs: seconds * 1_000 }).catch(() => {});
    await disruptions.stop();
    log(`${disruptions.count()} disruptions and ${shoppers.visits.length} orders, now checking`);
    const acknowledged = await shoppers.stop();

    const kafka = await readKafkaLog(stack.kafkaBrokers);
    closing.push(() => kafka.close().catch(() => {}));
    const faults = await faultsIn({ stack, api: shop.api, acknowledged, kafka, receiver, hook: HOOK });
    return {
      orders: acknowledged.length,
      disruptions: disruptions.count(),
      attempts,
      faults: [...faults, ...unverified],
    };
  } finally {
    for (const close of closing.reverse()) await close();
  }
};
