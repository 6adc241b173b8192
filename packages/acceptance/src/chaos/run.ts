import { openShop } from '../harness/merchants.ts';
import { readKafkaLog } from '../harness/kafka-log.ts';
import { freePortOffset, STANDARD_PORTS } from '../harness/ports.ts';
import { startReceiver } from '../harness/receiver.ts';
import { verified } from '../harness/signatures.ts';
import { startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { faultsIn } from './checks.ts';
import { layWires } from './network.ts';
import { randomOf } from './random.ts';
import { sendShoppers } from './shoppers.ts';
import { makeTrouble } from './trouble.ts';

export interface ChaosOptions {
  readonly seconds: number;
  /** Chooses what breaks when, and what the shoppers do. */
  readonly seed: number;
  readonly say: (sentence: string) => void;
}

export interface ChaosReport {
  readonly orders: number;
  readonly troubles: number;
  readonly attempts: number;
  /** A sentence for each thing that is wrong afterwards. */
  readonly faults: readonly string[];
}

const SHOPPERS = 6;
const HOOK = '/hook';
/** Every this-many-th attempt on the merchant's endpoint fails. */
const BAD_ATTEMPT = 23;
const VIA_PORT_OFFSET = 1_000;

/** A stack of its own with two dispatchers, shoppers who insist on every answer, and trouble for so many seconds. Then everything is
 *  left in peace, and what was acknowledged is compared with what is there. Throws where a client met what none may ever meet. */
export const runChaos = async ({ seconds, seed, say }: ChaosOptions): Promise<ChaosReport> => {
  const offset = await freePortOffset(VIA_PORT_OFFSET);
  const network = await layWires(
    Object.entries(STANDARD_PORTS).map(([name, port]) => ({
      name,
      port: port + offset + VIA_PORT_OFFSET,
      target: port + offset,
    })),
  );
  const closing: (() => unknown)[] = [network.close];
  try {
    const stack = await startStack({
      dispatchers: 2,
      env: {
        PORT_OFFSET: String(offset),
        VIA_PORT_OFFSET: String(VIA_PORT_OFFSET),
        WEBHOOK_RETRY_SECONDS: '1,1,2,2,2,5,5,5,5,5,5,5,5,5,5,5,5',
      },
    });
    closing.push(stack.stop);
    const receiver = await startReceiver();
    closing.push(receiver.close);
    const shop = await openShop(stack);
    closing.push(shop.api.close);
    const webhook = await shop.api.createWebhook({
      url: receiver.urlOf(HOOK),
      events: ['order:created', 'order:updated', 'order:paid', 'payment:applied', 'payment:failed', 'payment:refunded'],
    });
    await shop.api.updateWebhook(webhook.id, { is_enabled: true });
    let attempts = 0;
    const unverified: string[] = [];
    receiver.answer(HOOK, (attempt) => {
      attempts += 1;
      // As it comes: a signature is good for five minutes.
      try {
        verified(attempt, webhook.secret);
      } catch (error) {
        unverified.push(`${attempt.headers['x-idempotency-key']} does not verify: ${String(error)}`);
      }
      return attempts % BAD_ATTEMPT === 0 ? 503 : 204;
    });

    say(`${seconds} s of trouble, SEED=${seed}`);
    const shoppers = sendShoppers(shop.api, { count: SHOPPERS, random: randomOf(seed + 1) });
    const trouble = makeTrouble({ dataDir: stack.dataDir, network, random: randomOf(seed), say });
    // Ends early when one gives up; why is told by `leave`.
    await until('a shopper to give up', shoppers.gaveUp, { withinMs: seconds * 1_000 }).catch(() => {});
    await trouble.end();
    say(`peace after ${trouble.count()} troubles and ${shoppers.count()} orders`);
    const acknowledged = await shoppers.leave();

    const kafka = await readKafkaLog(stack.kafkaBrokers);
    closing.push(() => kafka.close().catch(() => {}));
    const faults = await faultsIn({ stack, api: shop.api, acknowledged, kafka, receiver, hook: HOOK });
    return { orders: acknowledged.length, troubles: trouble.count(), attempts, faults: [...faults, ...unverified] };
  } finally {
    for (const close of closing.reverse()) await close();
  }
};
