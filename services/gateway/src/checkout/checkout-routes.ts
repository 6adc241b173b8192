import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Checkout } from '@cpg/contracts';
import type { Logger } from '@cpg/platform';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { PaymentsClient } from '../api/payments/payments-client.ts';
import { callContext, canAnswer } from '../door/request.ts';
import { AT_ONCE, sendEncodedBody } from '../door/responses/compression.ts';
import { answerErrorsWithPages, pageHeaders, wantsHtml } from './errors.tsx';
import { acceptForms } from '../door/bodies/forms.ts';
import { createEventStreams } from './live/event-streams.ts';
import { liveRoutes, pageStates, versionOf } from './live/live-routes.ts';
import { followOpenPages } from './live/open-pages.ts';
import { cached, noSuchFile } from './looks.ts';
import { type ClaimPayments, refundClaimPages } from './refund-claim/claim-routes.ts';
import { type SandboxOptions, sandboxRoutes, stripOf } from './sandbox/sandbox-routes.ts';
import { chainHeights, changedCheckoutOrders } from './state/checkout-queries.ts';
import { checkoutOf } from './state/checkout.ts';
import { noSuchPage, pageFinder } from './state/find-page.ts';
import { choiceOf, chosenWay, type PageChoice, pageLink } from './state/page-link.ts';
import { ASSETS_PATH, type PageAsset, readPageAssets } from './view/assets.ts';
import { renderCheckout } from './view/checkout-page.tsx';
import { speechOf } from './view/language.ts';

export interface PayPageOptions {
  readonly pool: Pool;
  readonly payments: Pick<PaymentsClient, 'pageAddresses'> & ClaimPayments;
  readonly now: () => Date;
  /** In a sandbox: what the buttons of its strip use. */
  readonly sandbox?: SandboxOptions | undefined;
  readonly payPage: PayPageSettings;
  readonly log: Logger;
}

export interface PayPageSettings {
  /** The bundle of browser/page.ts. */
  readonly script: Buffer;
  /** How many pages can be open here with a stream of events. */
  readonly streams: { readonly max: number; readonly maxPerAddress: number };
}

const hidden = { schema: { hide: true } };

/** `GET /pay/:reference`, the page of an order for its payer, and the files that it loads. With
 *  `accept: application/json` the answer is the `Checkout`. */
export const payPageRoutes = async (app: FastifyInstance, options: PayPageOptions): Promise<void> => {
  const { pool, payments, now, payPage, sandbox, log } = options;
  const find = pageFinder({ pool, payments });
  const assets = readPageAssets(payPage.script);
  // The page of a large order takes 35 ms of the processor, and its reference is all that it takes to ask for it.
  const renderSlot = createRenderQueue();

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(pageHeaders());
    if (isInTab(request)) reply.removeHeader('origin-agent-cluster');
    // With `no-referrer`, browsers send `Origin: null` with the forms of the strip.
    if (sandbox) reply.header('referrer-policy', 'same-origin');
  });
  answerErrorsWithPages(app, assets);
  acceptForms(app);

  await app.register(liveRoutes, {
    streams: createEventStreams({ ...payPage.streams, now }),
    openPages: followOpenPages({
      load: pageStates({ find, now }),
      changedOrders: (known) => changedCheckoutOrders(pool, known),
      chainHeights: () => chainHeights(pool),
      log,
    }),
  });

  // Links with more than a reference get a page too.
  await app.register(
    async (mangled) =>
      mangled.setNotFoundHandler(() => {
        throw noSuchPage();
      }),
    { prefix: '/pay' },
  );

  await app.register(refundClaimPages, { pool, payments, find, isSandbox: sandbox !== undefined, assets });
  if (sandbox) sandboxRoutes(app, find, sandbox);

  serveAssets(app, Object.values(assets));

  app.get<{ Params: { reference: string }; Querystring: PageChoice }>(
    '/pay/:reference',
    { ...hidden, compress: AT_ONCE },
    async (request, reply) => {
      const { reference } = request.params;
      const shown = await find(reference, callContext(request));
      if (!shown) throw noSuchPage();
      await renderSlot();
      // The request timed out or the client disconnected while it waited.
      if (!canAnswer(reply)) return reply.hijack();
      const at = now();
      const checkout: Checkout = checkoutOf(shown, at);
      if (!wantsHtml(request)) return reply.send(checkout);
      const speech = speechOf(request);
      const choice = choiceOf(request.query);
      const way = chosenWay(checkout, choice.way);
      const { frame_ancestors } = shown.settings;
      const { accent_url } = checkout.merchant;
      const styles = [assets.style.path, ...(accent_url === undefined ? [] : [accent_url])];
      // The dashboard shows a preview, from the same origin.
      reply.headers({ ...pageHeaders(["'self'", ...frame_ancestors]), ...preloadStyles(styles) });
      if (frame_ancestors.length > 0) reply.removeHeader('x-frame-options');
      const html = renderCheckout({
        ...speech,
        checkout,
        version: versionOf(checkout),
        now: at,
        way,
        link: (changes) => pageLink(reference, { ...choice, ...changes }),
        strip: sandbox ? await stripOf(shown, { ways: checkout.ways, way }, sandbox) : null,
        assets,
      });
      return reply
        .type('text/html; charset=utf-8')
        .serializer((text: string) => text)
        .send(html);
    },
  );
};

/** The files that pages load. */
const serveAssets = (app: FastifyInstance, assets: readonly PageAsset[]): void => {
  const files = new Map(assets.map((asset) => [asset.path, asset]));
  app.get(`${ASSETS_PATH}/:file`, { ...hidden, compress: false }, async (request, reply) => {
    const asset = files.get(request.url.split('?')[0]!);
    if (!asset) throw noSuchFile();
    return sendEncodedBody(request, cached(reply).type(asset.type), asset);
  });
};

/** Resolves for one caller in each turn of the event loop, in the order of the calls. Between two of them, the process
 *  answers other requests, however many callers wait. */
export const createRenderQueue = (): (() => Promise<void>) => {
  let last = Promise.resolve();
  return () => (last = last.then(() => nextTurn()));
};

/** Lets a browser request style sheets before it reads the page. */
const preloadStyles = (paths: readonly string[]) => ({
  link: paths.map((path) => `<${path}>; rel=preload; as=style`).join(', '),
});

/** Whether the page is not in a frame, so that Cross-Origin-Opener-Policy applies to it (ADR 21). */
const isInTab = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean => headers['sec-fetch-dest'] === 'document';
