import { createHash } from 'node:crypto';
import { AppError, type Checkout } from '@cpg/contracts';
import { clientNetwork, newContext, onDrain } from '@cpg/platform';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { CheckoutOrder } from '../state/checkout-queries.ts';
import { checkoutOf } from '../state/checkout.ts';
import { type FindPage, noSuchPage } from '../state/find-page.ts';
import type { EventStreams, Refusal } from './event-streams.ts';
import type { OpenPages, PageState } from './open-pages.ts';

export interface LiveRouteOptions {
  readonly streams: EventStreams;
  readonly openPages: OpenPages;
}

const RETRY_AFTER_SECONDS = 60;

/** `GET /pay/:reference/events`: the versions of the page, and the time of the server. */
export const liveRoutes = async (app: FastifyInstance, { streams, openPages }: LiveRouteOptions): Promise<void> => {
  onDrain(app, streams.end);
  app.addHook('onClose', openPages.stop);
  app.get<{ Params: { reference: string } }>(
    '/pay/:reference/events',
    { schema: { hide: true }, config: { load: 'stream' }, exposeHeadRoute: false },
    async (request, reply) => {
      const place = streams.reserve(clientNetwork(request.ip));
      if (typeof place === 'string') throw refused(reply, place);
      try {
        const page = await openPages.load(request.params.reference);
        if (!page) throw noSuchPage();
        reply.hijack();
        const { raw: response } = reply;
        if (response.closed) return place.free();
        response.writeHead(200, {
          ...(reply.getHeaders() as Record<string, string>),
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store, no-transform',
          // Asks nginx to pass each event on at once.
          'x-accel-buffering': 'no',
        });
        streams.open(place, response);
        openPages.add(page, response);
      } catch (error) {
        place.free();
        throw error;
      }
    },
  );
};

const refused = (reply: FastifyReply, refusal: Refusal): AppError => {
  reply.header('retry-after', RETRY_AFTER_SECONDS);
  return refusal === 'too_many'
    ? new AppError('overloaded', 'too many pages are open here: ask for the page itself from time to time')
    : new AppError('rate_limited', 'too many pages are open from your address: ask for the page itself');
};

const HASH_DIGITS = 16;

/** Pages with the same version show the same. */
export const versionOf = (checkout: Checkout): string =>
  createHash('sha256').update(JSON.stringify(checkout)).digest('hex').slice(0, HASH_DIGITS);

/** Loads what the page of a reference shows now. */
export const pageStates =
  ({ find, now }: { find: FindPage; now: () => Date }) =>
  async (reference: string, known?: CheckoutOrder): Promise<PageState | null> => {
    const shown = await find(reference, newContext('service:gateway'), known);
    if (!shown) return null;
    const checkout = checkoutOf(shown, now());
    return {
      orderId: shown.page.order_id,
      revision: shown.revision,
      version: versionOf(checkout),
      waitsForBlocks: checkout.payments.some(({ state }) => state === 'seen'),
    };
  };
