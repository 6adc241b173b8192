import { ErrorBody, Webhook, WebhookEventType } from '@cpg/contracts';
import { untilAborted, wallClock } from '@cpg/platform';
import { type AdminCommand, CommandError, type RunWith } from '@cpg/platform/commands';
import { request } from 'undici';
import { z } from 'zod';
import { type ForwardedDelivery, startForwarder } from './forwarder.ts';

export interface SandboxWebhooks {
  readonly environment: 'sandbox' | 'production';
  readonly print: (line: string) => void;
  /** Stops `listen`. */
  readonly signal: AbortSignal;
}

/** Adds commands that work through the public API of a sandbox. */
export const addWebhooksCommands = (program: AdminCommand, withSandbox: RunWith<SandboxWebhooks>): void => {
  const webhooks = program.command('webhooks').description('webhooks of a sandbox, while you develop');
  const KEY = ['--key <key>', 'a key of the sandbox; by default that of the last "npm start" in this folder'] as const;
  const API = ['--api <url>', 'the address of its API; by default that of the last "npm start"'] as const;
  webhooks
    .command('listen')
    .description(
      'forward deliveries to a server on this machine, until Ctrl-C; they are signed with a secret that it prints',
    )
    .requiredOption('--forward <url>', 'the address of your server')
    .option(
      '--events <list>',
      `event types, separated by commas; all by default: ${WebhookEventType.options.join(', ')}`,
    )
    .option(...KEY)
    .option(...API)
    .examples('webhooks listen --forward http://127.0.0.1:3000/hook --events order:paid,payment:applied')
    .runs((options: ListenOptions) =>
      withSandbox((sandbox) => listen(createApiClient(sandbox.environment, options), options, sandbox)),
    );
  webhooks
    .command('remove')
    .description('delete the webhook that a killed "webhooks listen" left behind')
    .argument('<webhook>', 'the id of the webhook')
    .option(...KEY)
    .option(...API)
    .examples('webhooks remove whk_01J8…')
    .runs((webhook: string, options: ApiOptions) =>
      withSandbox(async ({ environment }) => {
        await createApiClient(environment, options)('DELETE', `/v1/webhooks/${webhook}`, z.unknown());
        return `webhook ${webhook} is removed`;
      }),
    );
};

interface ApiOptions {
  readonly key?: string;
  readonly api?: string;
}
interface ListenOptions extends ApiOptions {
  readonly forward: string;
  readonly events?: string;
}

const listen = async (
  sendRequest: ApiRequest,
  options: ListenOptions,
  { print, signal }: SandboxWebhooks,
): Promise<string> => {
  const target = parseHttpUrl(options.forward);
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
        throw new CommandError(`${(error as Error).message}\n${removalError.message}`, { cause: error });
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
    throw new CommandError(`cannot remove webhook ${id}: ${reason}\nrun: npm run admin -- webhooks remove ${id}`, {
      cause: error,
    });
  }
};

/** Sends a request to the public API and parses the response. Throws CommandError unless the API accepts the request. */
type ApiRequest = <T>(
  method: 'POST' | 'PATCH' | 'DELETE',
  path: string,
  schema: z.ZodType<T>,
  body?: object,
) => Promise<T>;

/** `scripts/admin.mjs` adds the `--api` and `--key` of the last "npm start", unless they or DATABASE_URL are given. */
const createApiClient = (environment: SandboxWebhooks['environment'], { api, key }: ApiOptions): ApiRequest => {
  if (environment !== 'sandbox' || key?.startsWith('ak_live_'))
    throw new CommandError('this command works with sandboxes only');
  if (!key)
    throw new CommandError('the API key is missing: add --key ak_sandbox_..., or start the sandbox with "npm start"');
  if (!api) throw new CommandError('the API URL is missing: add --api http://127.0.0.1:4000');
  const apiUrl = parseHttpUrl(api);
  return async (method, path, schema, body) => {
    const response = await request(new URL(path, apiUrl), {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      body: body ? JSON.stringify(body) : null,
    }).catch((cause: Error) => {
      throw new CommandError(`cannot reach ${api}: ${cause.message}`, { cause });
    });
    const responseText = await response.body.text();
    if (response.statusCode < 300) return schema.parse(JSON.parse(responseText));
    throw new CommandError(`${method} ${path} returned ${response.statusCode}: ${errorMessage(responseText)}`);
  };
};

const errorMessage = (responseText: string): string => {
  try {
    return ErrorBody.parse(JSON.parse(responseText)).message;
  } catch {
    return 'the response is not from the API of this gateway';
  }
};

const parseHttpUrl = (url: string): URL => {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new CommandError(`${url} is not an http:// or https:// URL`);
  return new URL(url);
};

const parseEvents = (list: string | undefined): WebhookEventType[] => {
  if (list === undefined) return [...WebhookEventType.options];
  const eventTypes = [...new Set(list.split(',').map((part) => part.trim()))];
  const unknown = eventTypes.filter((type) => !WebhookEventType.safeParse(type).success);
  if (unknown.length > 0)
    throw new CommandError(
      `unknown event: ${unknown.join(', ')}\nvalid events: ${WebhookEventType.options.join(', ')}`,
    );
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
