import type { Checkout, CheckoutPayment } from '@cpg/contracts';
import type { ComponentChild } from 'preact';
import { MAY_BE_ACCEPTED } from '../state/checkout.ts';
import { isClaimable, toContact } from './status.tsx';
import type { Texts } from './texts/en.ts';
import { isPositive, Time, TransactionHash, type View } from './view.tsx';

/** The payments that were seen, oldest first. */
export const Payments = (view: View) => {
  const { texts, checkout } = view;
  if (checkout.payments.length === 0) return null;
  return (
    <section class="payments" aria-labelledby="payments-title">
      <h2 id="payments-title">{texts.payments}</h2>
      <ul>
        {checkout.payments.map((payment) => (
          <li>
            <Payment view={view} payment={payment} />
          </li>
        ))}
      </ul>
    </section>
  );
};

const Payment = ({
  view: { texts, format, checkout },
  payment,
}: {
  readonly view: View;
  readonly payment: CheckoutPayment;
}) => {
  const {
    amount,
    currency,
    asset_label,
    state,
    seen_at,
    tx_hash,
    tx_url,
    returned,
    due_back: dueBack,
    confirmations,
    required_confirmations: required,
  } = payment;
  const isHeld = state === 'seen' && checkout.state === 'partially_paid' && confirmations === (required ?? null);
  return (
    <>
      <p class="head">
        <strong>{format.amount(amount, currency)}</strong>
        <span class={`state ${state}`}>{texts.paymentStates[isHeld ? 'held' : state]}</span>
      </p>
      <p class="note">
        <Time at={seen_at} format={format} />
        {asset_label && ` · ${asset_label}`}
        {payment.network_name && ` · ${payment.network_name}`}
        {isPositive(returned) && ` · ${texts.returnedPart(format.amount(returned, currency))}`}
        {isPositive(dueBack) &&
          !MAY_BE_ACCEPTED.has(state) &&
          ` · ${texts.dueBackPart(format.amount(dueBack, currency))}`}
      </p>
      {state === 'not_counted' && isPositive(dueBack) && <p>{whyNotCounted(payment, checkout, texts)}</p>}
      {tx_hash && (
        <p class="note transaction" data-tx={tx_hash} data-amount={amount}>
          {texts.transaction} <TransactionHash hash={tx_hash} url={tx_url} />
        </p>
      )}
      {confirmations !== undefined && required !== undefined && (
        <label class="confirmations">
          {texts.confirmations(format.number(confirmations), format.number(required))}
          <progress value={confirmations} max={required} />
        </label>
      )}
    </>
  );
};

/** Why a payment does not count, and what the payer can do. */
const whyNotCounted = (
  { orphan_reason: reason, currency: paidIn }: CheckoutPayment,
  checkout: Checkout,
  texts: Texts,
): ComponentChild => {
  const { notCounted, hasToReturn, payInstead } = texts;
  const { currency, ways } = checkout;
  switch (reason) {
    case 'wrong_currency': {
      const why = paidIn === currency ? notCounted.wrong_token(currency) : notCounted.wrong_currency(currency);
      const text = `${why} ${hasToReturn}`;
      return (
        <>
          {/* The notices at the top count money of the order's currency alone. */}
          {isClaimable(checkout, paidIn) ? text : toContact(text, { checkout, texts })}
          {ways.length > 0 && ` ${payInstead(currency)}`}
        </>
      );
    }
    case 'already_paid':
    case 'canceled':
    case 'too_many_payments':
      return `${notCounted[reason]} ${hasToReturn}`;
    default:
      return `${notCounted.other} ${hasToReturn}`;
  }
};
