import { parseArgs } from 'node:util';
import { ErrorBody, Webhook, WebhookEventType } from '@cpg/contracts';
import { request } from 'undici';
import { z } from 'zod';
import { AdminError } from './admin-error.ts';
import { type ForwardedDelivery, startForwarder } from './forwarder.ts';

export const WEBHOOKS_USAGE = `  webhooks listen --forward URL [--events LIST]  forward deliveries to a server on this machine, until Ctrl-C
  webhooks remove WEBHOOK                        remove the webhook of a "listen" that was killed
                                                 both need --key ak_sandbox_... --api URL, unless "npm start" runs here`;

export interface ListenOptions {
  readonly environment: 'sandbox' | 'production';
  readonly print: (line: string) => void;
  /** Stops `listen`. */
  readonly signal: AbortSignal;
}

/** Runs `webhooks listen` or `webhooks remove` through the public API of a sandbox. Throws AdminError for expected
 *  failures. */
export const runWebhooks = async (args: readonly string[], options: ListenOptions): Promise<string> => {
  const { positionals, values } = parse(args);
  const [verb, ...subjects] = positionals;
  const call = createApiClient(options.environment, values);
  if (verb === 'listen' && subjects.length === 0) return listen(call, values, options);
  if (verb !== 'remove' || subjects.length !== 1) throw new AdminError(WEBHOOKS_USAGE);
  await call('DELETE', `/v1/webhooks/${subjects[0]}`, z.unknown());
  return `webhook ${subjects[0]} is removed`;
};

const listen = async (call: Call, values: Values, { print, signal }: ListenOptions): Promise<string> => {
  const target = parseTarget(values.forward);
  const events = parseEvents(values.events);
  const forwarder = await startForwarder(target, (forwarded) => print(formatDelivery(forwarded)));
  try {
    const { id, secret } = await call('POST', '/v1/webhooks', Created, { url: forwarder.url, events });
    try {
      await call('PATCH', `/v1/webhooks/${id}`, Webhook, { is_enabled: true });
      print(`${events.join(', ')} -> ${target.href}`);
      print(`the signing secret is ${secret}`);
      print(`Ctrl-C removes webhook ${id}; if this process is killed, run: npm run admin -- webhooks remove ${id}`);
      if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    } finally {
      await call('DELETE', `/v1/webhooks/${id}`, z.unknown());
    }
    return `webhook ${id} is removed`;
  } finally {
    await forwarder.close();
  }
};

const Created = Webhook.extend({ secret: z.string() });

type Values = Partial<Record<'forward' | 'events' | 'key' | 'api', string>>;
type Call = <T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, shape: z.ZodType<T>, body?: object) => Promise<T>;

const createApiClient = (environment: ListenOptions['environment'], { api: url, key }: Values): Call => {
  if (environment !== 'sandbox' || key?.startsWith('ak_live_'))
    throw new AdminError('this command works with sandboxes only');
  if (!key)
    throw new AdminError('the API key is missing: add --key ak_sandbox_..., or start the sandbox with "npm start"');
  if (!url || !URL.canParse(url)) throw new AdminError('the API URL is missing: add --api http://127.0.0.1:4000');
  return async (method, path, shape, body) => {
    const response = await request(new URL(path, url), {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
    }).catch((cause: Error) => {
      throw new AdminError(`${url} does not respond: ${cause.message}`);
    });
    const text = await response.body.text();
    if (response.statusCode < 300) return shape.parse(JSON.parse(text));
    throw new AdminError(`${method} ${path} returned ${response.statusCode}: ${errorMessage(text)}`);
  };
};

const errorMessage = (text: string): string => {
  try {
    return ErrorBody.parse(JSON.parse(text)).message;
  } catch {
    return 'the response is not from the API of this gateway';
  }
};

const parse = (args: readonly string[]) => {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { forward: text, events: text, key: text, api: text },
    });
  } catch (error) {
    throw new AdminError(`${(error as Error).message}\n\n${WEBHOOKS_USAGE}`);
  }
};

const parseTarget = (text: string | undefined): URL => {
  if (text === undefined) throw new AdminError('--forward is missing: give a URL like http://127.0.0.1:3000/hook');
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new AdminError(`${text} is not an http:// URL`);
  return new URL(text);
};

const parseEvents = (text: string | undefined): WebhookEventType[] => {
  if (text === undefined) return [...WebhookEventType.options];
  const names = [...new Set(text.split(',').map((part) => part.trim()))];
  const unknown = names.filter((name) => !WebhookEventType.safeParse(name).success);
  if (unknown.length > 0)
    throw new AdminError(`unknown event: ${unknown.join(', ')}\nvalid events: ${WebhookEventType.options.join(', ')}`);
  return names as WebhookEventType[];
};

/** `12:04:34  order:paid  evt_...  204 in 12 ms` */
const formatDelivery = ({ event, eventId, status, durationMs, error }: ForwardedDelivery): string =>
  [
    new Date().toTimeString().slice(0, 8),
    event.padEnd('payment:refunded'.length),
    eventId,
    error ? `${status}: the target did not respond (${error})` : `${status} in ${durationMs} ms`,
  ].join('  ');
