import { parseArgs } from 'node:util';
import { ErrorBody, Webhook, WebhookEventType } from '@cpg/contracts';
import { request } from 'undici';
import { z } from 'zod';
import { AdminFault } from './fault.ts';
import { type Forwarded, startListener } from './listener.ts';

export const WEBHOOKS_USAGE = `  webhooks listen --forward URL [--events LIST]  passes deliveries on to a server on this machine, until Ctrl-C
  webhooks remove WEBHOOK                        what a listen that was killed left behind
                                                 both: --key ak_sandbox_... --api URL, unless "npm start" runs here`;

export interface Session {
  readonly environment: 'sandbox' | 'production';
  readonly print: (line: string) => void;
  /** Ends a `listen`. */
  readonly signal: AbortSignal;
}

/** `listen` and `remove`, by the public API of a sandbox. Throws AdminFault for what cannot be done. */
export const runWebhooks = async (args: readonly string[], session: Session): Promise<string> => {
  const { positionals, values } = parse(args);
  const [verb, ...subjects] = positionals;
  const call = apiOf(session.environment, values);
  if (verb === 'listen' && subjects.length === 0) return listen(call, values, session);
  if (verb !== 'remove' || subjects.length !== 1) throw new AdminFault(WEBHOOKS_USAGE);
  await call('DELETE', `/v1/webhooks/${subjects[0]}`, z.unknown());
  return `webhook ${subjects[0]} is removed`;
};

const listen = async (call: Call, values: Values, { print, signal }: Session): Promise<string> => {
  const target = targetIn(values.forward);
  const events = eventsIn(values.events);
  const listener = await startListener(target, (forwarded) => print(lineOf(forwarded)));
  try {
    const { id, secret } = await call('POST', '/v1/webhooks', Created, { url: listener.url, events });
    try {
      await call('PATCH', `/v1/webhooks/${id}`, Webhook, { is_enabled: true });
      print(`${events.join(', ')} -> ${target.href}`);
      print(`the signing secret is ${secret}`);
      print(`Ctrl-C removes webhook ${id}; if this is killed: npm run admin -- webhooks remove ${id}`);
      if (!signal.aborted) await new Promise((done) => signal.addEventListener('abort', done, { once: true }));
    } finally {
      await call('DELETE', `/v1/webhooks/${id}`, z.unknown());
    }
    return `webhook ${id} is removed`;
  } finally {
    await listener.close();
  }
};

const Created = Webhook.extend({ secret: z.string() });

type Values = Partial<Record<'forward' | 'events' | 'key' | 'api', string>>;
type Call = <T>(method: 'POST' | 'PATCH' | 'DELETE', path: string, shape: z.ZodType<T>, body?: object) => Promise<T>;

const apiOf = (environment: Session['environment'], { api: url, key }: Values): Call => {
  if (environment !== 'sandbox' || key?.startsWith('ak_live_')) throw new AdminFault('this is for sandboxes only');
  if (!key) throw new AdminFault('there is no key: give --key ak_sandbox_..., or start the sandbox by "npm start"');
  if (!url || !URL.canParse(url)) throw new AdminFault('there is no API: give --api http://127.0.0.1:4000');
  return async (method, path, shape, body) => {
    const answer = await request(new URL(path, url), {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
    }).catch((cause: Error) => {
      throw new AdminFault(`${url} does not answer: ${cause.message}`);
    });
    const text = await answer.body.text();
    if (answer.statusCode < 300) return shape.parse(JSON.parse(text));
    throw new AdminFault(`${method} ${path} was answered ${answer.statusCode}: ${messageIn(text)}`);
  };
};

const messageIn = (text: string): string => {
  try {
    return ErrorBody.parse(JSON.parse(text)).message;
  } catch {
    return 'that is no API of this gateway';
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
    throw new AdminFault(`${(error as Error).message}\n\n${WEBHOOKS_USAGE}`);
  }
};

const targetIn = (text: string | undefined): URL => {
  if (text === undefined) throw new AdminFault('--forward is missing: name a URL, like http://127.0.0.1:3000/hook');
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) throw new AdminFault(`${text} is not an http:// URL`);
  return new URL(text);
};

const eventsIn = (text: string | undefined): WebhookEventType[] => {
  if (text === undefined) return [...WebhookEventType.options];
  const names = [...new Set(text.split(',').map((part) => part.trim()))];
  const unknown = names.filter((name) => !WebhookEventType.safeParse(name).success);
  if (unknown.length > 0)
    throw new AdminFault(`no such event: ${unknown.join(', ')}\nthere are: ${WebhookEventType.options.join(', ')}`);
  return names as WebhookEventType[];
};

/** `12:04:34  order:paid  evt_...  204 in 12 ms` */
const lineOf = ({ event, eventId, status, durationMs, error }: Forwarded): string =>
  [
    new Date().toTimeString().slice(0, 8),
    event.padEnd('payment:refunded'.length),
    eventId,
    error ? `${status}: the target did not answer (${error})` : `${status} in ${durationMs} ms`,
  ].join('  ');
