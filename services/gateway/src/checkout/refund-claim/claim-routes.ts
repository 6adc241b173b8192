import { type CheckedAddress, type ClaimedRefund, isAppError, nullIfNotFound } from '@cpg/contracts';
import type { Pool } from '@cpg/platform/postgres';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { orderById } from '../../api/orders/order-queries.ts';
import { paymentPageSettings } from '../../api/payment-page/payment-page-settings.ts';
import type { PaymentsClient } from '../../api/payments/payments-client.ts';
import { hashOfClaimToken } from '../../api/refunds/claim-token.ts';
import { callContext } from '../../door/request.ts';
import { requireSameOrigin } from '../../door/bodies/forms.ts';
import { type FindPage, noSuchPage } from '../state/find-page.ts';
import { choiceLink, choiceOf, type PageParams, pagePathOf } from '../state/page-link.ts';
import type { PageAssets } from '../view/assets.ts';
import { speechOf } from '../view/language.ts';
import { type ClaimStep, claimViewOf, stepOf } from './claim.ts';
import { renderClaim } from './claim-page.tsx';

export type ClaimPayments = Pick<PaymentsClient, 'claimedRefund' | 'checkClaimAddress' | 'confirmClaimAddress'>;

export interface ClaimPageOptions {
  readonly pool: Pool;
  readonly payments: ClaimPayments;
  readonly find: FindPage;
  readonly isSandbox: boolean;
  readonly assets: PageAssets;
}

interface Claim {
  readonly hash: string;
  readonly claimed: ClaimedRefund;
}

/** Longer texts are no addresses. */
const MAX_ADDRESS_LENGTH = 128;
const hidden = { schema: { hide: true } };

/** The page on which a payer enters the address of a refund: by the token of its link, or from the page of its order if
 *  the merchant shows it there. */
export const refundClaimPages = async (app: FastifyInstance, options: ClaimPageOptions): Promise<void> => {
  app.addHook('onRequest', async (_, reply) => {
    // With `no-referrer`, browsers send `Origin: null` with the form.
    reply.header('referrer-policy', 'same-origin');
  });
  for (const path of ['/pay/refunds/:token', '/pay/:reference/refunds/:claim']) {
    app.get<{ Params: PageParams }>(path, hidden, async (request, reply) => {
      const claim = await findClaim(request, options);
      return show(stepOf(claim.claimed), claim, { request, reply }, options);
    });

    app.post<{ Params: PageParams }>(`${path}/check`, hidden, async (request, reply) => {
      requireSameOrigin(request);
      const claim = await findClaim(request, options);
      if (stepOf(claim.claimed).name !== 'enter') return toPage(request, reply);
      const address = addressIn(request);
      const checked = await checkAddress(address, claim, callContext(request), options);
      return show(stepAfter(checked, address), claim, { request, reply }, options);
    });

    app.post<{ Params: PageParams }>(`${path}/confirm`, hidden, async (request, reply) => {
      requireSameOrigin(request);
      const claim = await findClaim(request, options);
      const address = addressIn(request);
      if (address.length > MAX_ADDRESS_LENGTH) return toPage(request, reply);
      try {
        const checked = await options.payments.confirmClaimAddress(claim.hash, { address }, callContext(request));
        if ('fault' in checked) return await show(stepAfter(checked, address), claim, { request, reply }, options);
        return toPage(request, reply);
      } catch (error) {
        if (!isAppError(error, 'payment_conflict')) throw error;
        // The refund changed since the page was shown: it has an address, is canceled, or its link has expired.
        const now = await findClaim(request, options);
        if (stepOf(now.claimed).name !== 'enter') return toPage(request, reply);
        return show({ name: 'enter', refused: { address, fault: 'not_now' } }, now, { request, reply }, options);
      }
    });
  }
};

/** Throws the 404 of every link that is unknown, replaced, or not shown on the page of the order. */
const findClaim = async (
  request: FastifyRequest<{ Params: PageParams }>,
  { payments, find }: ClaimPageOptions,
): Promise<Claim> => {
  const { token, reference, claim } = request.params;
  const context = callContext(request);
  const hash = token === undefined ? /^[\da-f]{64}$/.exec(claim!)?.[0] : hashOfClaimToken(token);
  if (!hash) throw noSuchPage();
  const claimed = await nullIfNotFound(payments.claimedRefund(hash, context));
  if (!claimed) throw noSuchPage();
  if (reference === undefined) return { hash, claimed };
  const shown = claimed.on_page ? await find(reference, context) : null;
  if (shown?.order.id !== claimed.refund.order_id) throw noSuchPage();
  return { hash, claimed };
};

const checkAddress = async (
  address: string,
  { hash }: Claim,
  context: ReturnType<typeof callContext>,
  { payments }: ClaimPageOptions,
): Promise<CheckedAddress> =>
  address.length > MAX_ADDRESS_LENGTH ? { fault: 'form' } : payments.checkClaimAddress(hash, { address }, context);

const stepAfter = (checked: CheckedAddress, address: string): ClaimStep =>
  'fault' in checked
    ? { name: 'enter', refused: { address, fault: checked.fault } }
    : { name: 'confirm', destination: checked.destination, hasChecksum: checked.has_checksum };

/** Copied addresses can have spaces and line breaks. */
const addressIn = ({ body }: FastifyRequest): string =>
  (body instanceof URLSearchParams ? (body.get('address') ?? '') : '').replace(/\s/g, '');

const linkOf = ({ params, query }: FastifyRequest<{ Params: PageParams }>, action = ''): string =>
  `${pagePathOf(params)!}${action}${choiceLink(choiceOf(query))}`;

/** What has happened is on the page: a reload of it repeats nothing. */
const toPage = (request: FastifyRequest<{ Params: PageParams }>, reply: FastifyReply) =>
  reply.code(303).header('location', linkOf(request)).send();

const show = async (
  step: ClaimStep,
  { claimed }: Claim,
  { request, reply }: { request: FastifyRequest<{ Params: PageParams }>; reply: FastifyReply },
  { pool, isSandbox, assets }: ClaimPageOptions,
) => {
  const { merchant_id, order_id } = claimed.refund;
  const merchant = await paymentPageSettings(pool, merchant_id);
  if (!merchant) throw noSuchPage();
  const order = await orderById(pool, merchant_id, order_id);
  const page = order?.deposit_instructions.find((instruction) => instruction.rail === 'gateway_pay');
  const html = renderClaim({
    ...speechOf(request),
    claim: claimViewOf(claimed, { merchant, paymentReference: page?.payment_reference, step }),
    actions: { check: linkOf(request, '/check'), confirm: linkOf(request, '/confirm'), again: linkOf(request) },
    languageLink: (lang) => `${pagePathOf(request.params)!}${choiceLink({ lang })}`,
    isSandbox,
    assets,
  });
  return reply
    .type('text/html; charset=utf-8')
    .serializer((text: string) => text)
    .send(html);
};
