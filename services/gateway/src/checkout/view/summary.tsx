import type { CheckoutLine } from '@cpg/contracts';
import { isPositive, Time, type View } from './view.tsx';

/** The items with their prices as the merchant wrote them, and the sums. */
export const Summary = ({ texts, format, checkout }: View) => {
  const { lines, sums, currency, total, paid, shortfall, returned, due_back: dueBack } = checkout;
  const { pending, remaining, ways, rates, state, applied } = checkout;
  const isInVain = (state === 'expired' || state === 'canceled') && !isPositive(applied);
  const sum = (label: string, amount: string, isShown: boolean, name?: string) =>
    isShown && (
      <div class={name}>
        <dt>{label}</dt>
        <dd>{format.amount(amount, currency)}</dd>
      </div>
    );
  return (
    <section class="summary" aria-labelledby="summary-title">
      <h2 id="summary-title">{texts.summaryTitle}</h2>
      <ul class="lines">
        {lines.map((line) => (
          <li>
            <Line line={line} kind={line.kind} format={format} texts={texts} />
            {line.modifiers.length > 0 && (
              <ul>
                {line.modifiers.map((modifier) => (
                  <li>
                    <Line line={modifier} kind="product" format={format} texts={texts} />
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      <dl class="sums">
        {sums.map((each) => (
          <div>
            <dt>{texts.sum}</dt>
            <dd>{format.amount(each.amount, each.currency)}</dd>
          </div>
        ))}
        {sum(texts.total, total, true, 'total')}
        {sum(isInVain ? texts.paidInVain : texts.paid, paid, isPositive(paid))}
        {sum(texts.notOwed, shortfall, isPositive(shortfall))}
        {sum(texts.returned, returned, isPositive(returned))}
        {sum(texts.dueBackSum, dueBack, isPositive(dueBack))}
        {sum(texts.pending, pending, isPositive(pending))}
        {sum(texts.leftToPay, remaining, remaining !== total && isPositive(remaining) && ways.length > 0, 'left')}
      </dl>
      {rates.map((rate) => (
        <p class="rate">{texts.rate(rate.currency, format.amount(rate.rate, currency))}</p>
      ))}
    </section>
  );
};

const Line = ({
  line,
  kind,
  texts,
  format,
}: {
  readonly line: Omit<CheckoutLine, 'modifiers' | 'kind'>;
  readonly kind: CheckoutLine['kind'];
} & Pick<View, 'texts' | 'format'>) => {
  // Of a discount, a tax or shipping there is usually one.
  const counted = kind === 'product' || line.quantity !== 1;
  const details = [
    ...(kind === 'product' ? [] : [texts.kinds[kind]]),
    ...(counted ? [texts.quantity(format.number(line.quantity), format.amount(line.unit_price, line.currency))] : []),
  ];
  return (
    <span class="line">
      <bdi>{line.name}</bdi>
      <span class="quantity">{details.join(' · ')}</span>
      <span class="price">{format.amount(line.price, line.currency)}</span>
    </span>
  );
};

/** What a payer keeps; transactions are in the list of payments. */
export const Receipt = ({ texts, format, checkout }: View) => {
  const { state, merchant, paid, shortfall, returned, due_back: dueBack, currency, payments, reference } = checkout;
  if (state !== 'paid') return null;
  const last = payments.filter((payment) => payment.state === 'counted').at(-1);
  const withLess = checkout.accepted_by_merchant ? texts.acceptedLess : texts.settledWithLess;
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
        {isPositive(shortfall) && row(texts.notOwed, format.amount(shortfall, currency))}
        {isPositive(returned) && row(texts.returned, format.amount(returned, currency))}
        {isPositive(dueBack) && row(texts.dueBackSum, format.amount(dueBack, currency))}
        {last && row(texts.paidOn, <Time at={last.seen_at} format={format} />)}
        {row(texts.reference, <code>{reference}</code>)}
      </dl>
      {isPositive(shortfall) && <p class="note">{withLess(format.amount(shortfall, currency))}</p>}
      <button type="button" data-print hidden>
        {texts.print}
      </button>
    </section>
  );
};
