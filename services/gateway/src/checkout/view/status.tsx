import type { Checkout } from '@cpg/contracts';
import type { ComponentChild } from 'preact';
import { isPositive, TextWithTime, type View } from './view.tsx';

type State = Checkout['state'];

const TONES: Record<State, 'waiting' | 'good' | 'bad'> = {
  preparing: 'waiting',
  waiting: 'waiting',
  partially_paid: 'waiting',
  confirming: 'waiting',
  closing: 'bad',
  paid: 'good',
  reversed: 'bad',
  returned: 'bad',
  expired: 'bad',
  partially_paid_expired: 'bad',
  canceled: 'bad',
};

/** The state of the payment, and what the payer should do. */
export const Status = (view: View) => {
  const { checkout, format } = view;
  const { state, ways } = checkout;
  return (
    <section class={`status ${TONES[state]}`}>
      <h1>{headingOf(view)}</h1>
      {ways.length > 0 && <AmountDue {...view} />}
      {state === 'paid' && <p class="amount">{format.amount(checkout.paid, checkout.currency)}</p>}
      <p class="explanation">{explanationOf(view)}</p>
      {noticesOf(view).map((notice) => (
        <p class="notice">{notice}</p>
      ))}
    </section>
  );
};

/** The state in a few words. A part that does not count yet was seen, but has not arrived. */
export const headingOf = ({ checkout, texts: { headings } }: View): string => {
  const { state, applied } = checkout;
  return headings[state === 'partially_paid' && !isPositive(applied) ? 'partially_seen' : state];
};

const AmountDue = ({ checkout, texts, format, now }: View) => {
  const { state, remaining, currency, deadline, rules } = checkout;
  const secondsLeft = (Date.parse(deadline) - now.getTime()) / 1000;
  return (
    <>
      <p>
        <span class="label">{state === 'waiting' ? texts.amountToPay : texts.leftToPay}</span>
        <br />
        <strong class="amount">{format.amount(remaining, currency)}</strong>
      </p>
      {state !== 'reversed' && (
        <p class="deadline">
          <time class="countdown" datetime={deadline} data-text={texts.timeLeft('{time}')}>
            {texts.timeLeft(format.minutes(Math.max(1, Math.floor(secondsLeft / 60))))}
          </time>
          <br />
          <TextWithTime text={texts.until} at={deadline} format={format} />
          {rules.renews && ` ${texts.priceWillRenew}`}
        </p>
      )}
    </>
  );
};

const explanationOf = ({ checkout, texts, format }: View): ComponentChild => {
  const { state, rules, applied, pending, total, currency, ways } = checkout;
  if (state === 'paid' && !isSettled(checkout)) return texts.paidUnsettled;
  if (state === 'closing' && rules.renews) return texts.closingRenews;
  if (state === 'partially_paid')
    return [
      ...(isPositive(applied)
        ? [texts.receivedSoFar(format.amount(applied, currency), format.amount(total, currency))]
        : []),
      ...(isPositive(pending) ? [texts.pendingSoFar(format.amount(pending, currency))] : []),
      texts.explanations[state],
    ].join(' ');
  if (state === 'waiting' && ways.length === 0) return texts.noWays;
  if (state === 'partially_paid_expired' && !isClaimable(checkout, currency))
    return toContact(texts.explanations[state], { checkout, texts });
  return texts.explanations[state];
};

const MAY_STILL_COME: ReadonlySet<State> = new Set(['closing', 'expired', 'partially_paid_expired', 'canceled']);

const noticesOf = ({ checkout, texts, format }: View): ComponentChild[] => {
  const {
    state,
    ways,
    price_updated_at: updatedAt,
    payments,
    surplus,
    returned,
    due_back: dueBack,
    currency,
  } = checkout;
  const isToAccept = (reason: 'late' | 'insufficient' | 'wrong_network') =>
    payments.some((payment) => payment.state === reason && isPositive(payment.due_back));
  const toSettle = (text: string) => (isClaimable(checkout, currency) ? text : toContact(text, { checkout, texts }));
  return [
    ...(updatedAt && ways.length > 0
      ? [<TextWithTime text={texts.priceUpdated} at={updatedAt} format={format} />]
      : []),
    ...(isToAccept('late') ? [toSettle(texts.late)] : []),
    ...(isToAccept('insufficient') ? [toSettle(texts.insufficient)] : []),
    ...(isToAccept('wrong_network') ? [toSettle(texts.wrongNetwork)] : []),
    ...payments
      .filter(({ orphan_reason, due_back }) => orphan_reason === 'wrong_currency' && isPositive(due_back))
      .map((payment) => texts.notCountedNotice(format.amount(payment.amount, payment.currency))),
    ...(isPositive(returned) ? [texts.hasReturned(format.amount(returned, currency))] : []),
    ...(isPositive(surplus) ? [texts.surplus(format.amount(surplus, currency))] : []),
    ...(isPositive(dueBack) ? [toSettle(texts.dueBack(format.amount(dueBack, currency)))] : []),
    ...(MAY_STILL_COME.has(state) && payments.length === 0 ? [texts.sentAlready] : []),
  ];
};

/** The text, whom to ask, and how if the merchant says it. */
export const toContact = (
  text: string,
  { checkout: { merchant }, texts }: Pick<View, 'checkout' | 'texts'>,
): ComponentChild => (
  <>
    {text} {texts.contact}
    {merchant.contact !== undefined && <> {contactLink(merchant.contact)}</>}
  </>
);

/** A link for a web address, an email address or a phone number; other text as it is. */
const contactLink = (contact: string): ComponentChild => {
  const href = hrefOf(contact);
  return href === undefined ? <bdi>{contact}</bdi> : <a href={href}>{contact}</a>;
};

const hrefOf = (contact: string): string | undefined => {
  if (/^https:\/\//.test(contact)) return contact;
  if (/^[^\s@]+@[^\s@]+$/.test(contact)) return `mailto:${contact}`;
  return /^\+[\d ()-]+$/.test(contact) ? `tel:${contact.replaceAll(/[^+\d]/g, '')}` : undefined;
};

/** Whether the page shows a refund in this currency: the payer then enters an address, and need not contact anybody. */
export const isClaimable = ({ refund_claims }: Checkout, currency: Checkout['currency']): boolean =>
  refund_claims.some((claim) => claim.currency === currency);

/** Whether the merchant and the payer owe each other nothing. */
export const isSettled = ({ surplus, due_back, payments, refund_claims }: Checkout): boolean =>
  refund_claims.length === 0 && ![surplus, due_back, ...payments.map((payment) => payment.due_back)].some(isPositive);
