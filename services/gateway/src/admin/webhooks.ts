import { ErrorBody, Webhook, WebhookEventType } from '@cpg/contracts';
import { untilAborted, wallClock } from '@cpg/platform';
import { request } from 'undici';
import { z } from 'zod';
import { AdminError, parseOptions } from './command.ts';
import { type ForwardedDelivery, startForwarder } from './forwarder.ts';

export const WEBHOOKS_USAGE = `  webhooks listen --forward URL [--events LIST]  forward deliveries to a server on this machine, until Ctrl-C
  webhooks remove WEBHOOK                        delete the webhook that a killed "listen" left behind
                                                 both use the key and URL of the last "npm start" in this folder;
                                                 otherwise give --key ak_sandbox_... --api URL`;

export interface WebhooksCommandOptions {
  readonly environment: 'sandbox' | 'production';
  readonly print: (line: string) => void;
  /** Stops `listen`. */
  readonly signal: AbortSignal;
}

/** Runs `webhooks listen` or `webhooks remove` through the public API of a sandbox. Throws AdminError for expected
 *  failures. */
export const runWebhooksCommand = async (args: readonly string[], options: WebhooksCommandOptions): Promise<string> => {
  const { positionals, values } = parseOptions(args, OPTION_NAMES, WEBHOOKS_USAGE);
  const [action, webhookId, ...rest] = positionals;
  const isListen = action === 'listen' && webhookId === undefined;
  const isRemove = action === 'remove' && webhookId !== undefined && rest.length === 0;
  if (!isListen && !isRemove) throw new AdminError(WEBHOOKS_USAGE);
  const sendRequest = createApiClient(options.environment, values);
  if (isListen) return listen(sendRequest, values, options);
  await sendRequest('DELETE', `/v1/webhooks/${webhookId}`, z.unknown());
  return `webhook ${webhookId} is removed`;
};

const OPTION_NAMES = ['forward', 'events', 'key', 'api'] as const;
type Options = Partial<Record<(typeof OPTION_NAMES)[number], string>>;

const listen = async (
  sendRequest: ApiRequest,
  options: Options,
  { print, signal }: WebhooksCommandOptions,
): Promise<string> => {
  const target = parseTarget(options.forward);
  const events = parseEvents(options.events);
  const forwarder = await startForwarder(target, (forwarded) => print(formatDelivery(forwarded)));
  try {
    const { id, secret } = await sendRequest('POST', '/v1/webhooks', CreatedWebhook, { url: forwarder.url, events });
    try {
      // A new webhook is disabled.
      await sendRequest('PATCH', `/v1/webhooks/${id}`, Webhook, { is_enabled: true });
      print(`${events.join(', ')} -> ${target.href}`);
      print(`the signing secret is ${secret}`);
      print(`Ctrl-C removes webhook ${id}; if this process is killed, run: npm run admin -- webhooks remove ${id}`);
      await untilAborted(signal);
    } catch (error) {
      await removeWebhook(sendRequest, id).catch((removalError: Error) => {
        throw new AdminError(`${(error as Error).message}\n${removalError.message}`, { cause: error });
      });
      throw error;
    }
    await removeWebhook(sendRequest, id);
    return `webhook ${id} is removed`;
  } finally {
    await forwarder.close();
  }
};

const CreatedWebhook = Webhook.extend({ secret: z.string() });

const removeWebhook = async (sendRequest: ApiRequest, id: string): Promise<void> => {
  try {
    await sendRequest('DELETE', `/v1/webhooks/${id}`, z.unknown());
  } catch (error) {
    const reason = (error as Error).message;
    throw new AdminError(`cannot remove webhook ${id}: ${reason}\nrun: npm run admin -- webhooks remove ${id}`, {
      cause: error,
    });
  }
};

/** Sends a request to the public API and parses the response. Throws AdminError unless the API accepts the request. */
type ApiRequest = <T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  schema: z.ZodType<T>,
  body?: object,
) => Promise<T>;

/** `scripts/admin.mjs` adds the `--api` and `--key` of the last "npm start", unless they or DATABASE_URL are given. */
const createApiClient = (environment: WebhooksCommandOptions['environment'], { api, key }: Options): ApiRequest => {
  if (environment !== 'sandbox' || key?.startsWith('ak_live_'))
    throw new AdminError('this command works with sandboxes only');
  if (!key)
    throw new AdminError('the API key is missing: add --key ak_sandbox_..., or start the sandbox with "npm start"');
  if (!api) throw new AdminError('the API URL is missing: add --api http://127.0.0.1:4000');
  const apiUrl = parseHttpUrl(api);
  return async (method, path, schema, body) => {
    const response = await request(new URL(path, apiUrl), {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
    }).catch((cause: Error) => {
      throw new AdminError(`cannot reach ${api}: ${cause.message}`, { cause });
    });
    const responseText = await response.body.text();
    if (response.statusCode < 300) return schema.parse(JSON.parse(responseText));
    throw new AdminError(`${method} ${path} returned ${response.statusCode}: ${errorMessage(responseText)}`);
  };
};

const errorMessage = (responseText: string): string => {
  try {
    return ErrorBody.parse(JSON.parse(responseText)).message;
  } catch {
    return 'the response is not from the API of this gateway';
  }
};

const parseTarget = (target: string | undefined): URL => {
  if (target === undefined) throw new AdminError('--forward is missing: give a URL like http://127.0.0.1:3000/hook');
  return parseHttpUrl(target);
};

const parseHttpUrl = (url: string): URL => {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new AdminError(`${url} is not an http:// or https:// URL`);
  return new URL(url);
};

const parseEvents = (list: string | undefined): WebhookEventType[] => {
  if (list === undefined) return [...WebhookEventType.options];
  const eventTypes = [...new Set(list.split(',').map((part) => part.trim()))];
  const unknown = eventTypes.filter((type) => !WebhookEventType.safeParse(type).success);
  if (unknown.length > 0)
    throw new AdminError(`unknown event: ${unknown.join(', ')}\nvalid events: ${WebhookEventType.options.join(', ')}`);
  return eventTypes as WebhookEventType[];
};

const EVENT_WIDTH = Math.max(...WebhookEventType.options.map((type) => type.length));

/** `12:04:34  order:paid  evt_...  204 in 12 ms` */
const formatDelivery = ({ event, eventId, status, durationMs, error }: ForwardedDelivery): string =>
  [
    wallClock().toTimeString().slice(0, 8),
    event.padEnd(EVENT_WIDTH),
    eventId,
    error
      ? `no response from the target (${error}); returned ${status} so that the delivery is retried`
      : `${status} in ${durationMs} ms`,
  ].join('  ');
