import { isPositive } from './status.tsx';
import { Time } from './time.tsx';
import type { View } from './view.ts';

/** What a payer keeps; transactions are in the list of payments. */
export const Receipt = ({ texts, format, checkout }: View) => {
  const { state, merchant, paid, returned, due_back: dueBack, currency, payments, reference } = checkout;
  if (state !== 'paid') return null;
  const last = payments.filter((payment) => payment.state === 'counted').at(-1);
  const row = (label: string, value: preact.ComponentChildren) => (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
  return (
    <section class="receipt" aria-labelledby="receipt-title">
      <h2 id="receipt-title">{texts.receipt}</h2>
      <dl class="sums">
        {row(texts.payTo, <bdi>{merchant.name}</bdi>)}
        {row(texts.paid, format.amount(paid, currency))}
        {isPositive(returned) && row(texts.returned, format.amount(returned, currency))}
        {isPositive(dueBack) && row(texts.dueBackSum, format.amount(dueBack, currency))}
        {last && row(texts.paidOn, <Time at={last.seen_at} format={format} />)}
        {row(texts.reference, <code>{reference}</code>)}
      </dl>
      <button type="button" data-print hidden>
        {texts.print}
      </button>
    </section>
  );
};
