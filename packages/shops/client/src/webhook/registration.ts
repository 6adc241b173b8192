import type { Client, CreateWebhookDto, Webhook, WebhookEventType } from '@cpg/sdk';
import { ask, done, type Fault, type Outcome } from '../outcome.ts';
import type { Store } from '../store.ts';

/** The webhook of a shop at the gateway. */
export interface Registered {
  readonly id: string;
  readonly secret: string;
}

export interface RegistrationOptions {
  readonly client: Client;
  readonly store: Store;
  /** The name of the shop: `shop` in the metadata of its orders. */
  readonly shop: string;
  /** The address of the shop that receives the events. */
  readonly url: string;
  /** Called before the webhook of another address is replaced. */
  readonly onMove?: (from: string) => void;
}

/** Every change of an order, and money that the order does not show. */
const EVENTS: WebhookEventType[] = ['order:updated', 'payment:orphaned'];
const NAME = 'webhook';
// Create, store, keep, and the same again after another process changed the store.
const MOST_STEPS = 5;

/** What the store has. `creating` is stored before the request: a process that dies before it has the answer, and every
 *  other process, sends the same request with the same key, and gets the same webhook with its secret. */
type Stored =
  | { readonly step: 'creating'; readonly key: string; readonly body: CreateWebhookDto }
  | ({ readonly step: 'created'; readonly url: string } & Registered);

/** The webhook as it is stored; undefined before it is registered. */
export const storedWebhook = async (store: Store): Promise<Registered | undefined> => {
  const stored = parsed(await store.read(NAME));
  return stored?.step === 'created' ? stored : undefined;
};

/** Makes sure that the gateway has one enabled webhook of this shop, and that its secret is stored. Safe to run twice,
 *  at once in several processes, and after a crash at any place. */
export const registerWebhook = async ({
  client,
  store,
  shop,
  url,
  onMove,
}: RegistrationOptions): Promise<Outcome<Registered>> => {
  const body: CreateWebhookDto = { url, events: EVENTS, label: `Shop ${shop}`.slice(0, 100), filter: { shop } };
  let last: Fault = { kind: 'invalid', code: 'store', message: 'the store does not keep the webhook' };
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const text = await store.read(NAME);
    const stored = parsed(text);
    if (stored?.step === 'created' && stored.url === url) {
      const kept = await keep(client, stored, body);
      if (kept.ok || kept.fault.code !== 'not_found') return kept;
      last = kept.fault;
    } else if (stored?.step === 'creating' && stored.body.url === url) {
      const created = await ask(() => client.createWebhook(stored.body, { idempotencyKey: stored.key }));
      if (created.ok) {
        const { id, secret } = created.value;
        await store.replace(NAME, text, textOf({ step: 'created', id, secret, url }));
        continue;
      }
      if (!isKeySpent(created.fault)) return created;
      last = created.fault;
    }
    if (stored?.step === 'created' && stored.url !== url) onMove?.(stored.url);
    await store.replace(NAME, text, textOf({ step: 'creating', key: globalThis.crypto.randomUUID(), body }));
  }
  return { ok: false, fault: last };
};

/** The webhook was deleted since, or the key belongs to another request. */
const isKeySpent = ({ code }: Fault): boolean => ['webhook_deleted', 'idempotency_key_reused'].includes(code);

/** Corrects what differs at the gateway. A webhook that is new, or that the gateway disabled after failures, is
 *  enabled. */
const keep = async (
  client: Client,
  { id, secret }: Registered,
  { events, label, filter }: CreateWebhookDto,
): Promise<Outcome<Registered>> => {
  const found = await ask(() => client.getWebhook(id));
  if (!found.ok) return found;
  const { is_enabled, ...other } = found.value;
  const isSame =
    is_enabled &&
    other.label === label &&
    JSON.stringify(other.filter) === JSON.stringify(filter) &&
    [...other.events].sort().join() === [...events].sort().join();
  const kept = isSame ? found : await ask(() => client.updateWebhook(id, { events, label, filter, is_enabled: true }));
  if (!kept.ok) return kept;
  await removeTwins(client, kept.value);
  return done({ id, secret });
};

/** Deletes webhooks of the same shop and address: the answer to their creation was lost for more than a day, so nobody
 *  has their secret. */
const removeTwins = async (client: Client, own: Webhook): Promise<void> => {
  const list = await ask(() => client.listWebhooks({ limit: 100 }));
  const isTwin = ({ id, url, filter }: Webhook) =>
    id !== own.id && url === own.url && filter?.shop === own.filter?.shop;
  const twins = list.ok ? list.value.items.filter(isTwin) : [];
  for (const { id } of twins) await ask(() => client.deleteWebhook(id));
};

const parsed = (text: string | undefined): Stored | undefined =>
  text === undefined ? undefined : (JSON.parse(text) as Stored);

const textOf = (stored: Stored): string => JSON.stringify(stored);
