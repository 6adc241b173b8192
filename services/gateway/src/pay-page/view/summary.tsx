import type { CheckoutLine } from '@cpg/contracts';
import type { View } from './view.ts';

/** The items with their prices as the merchant wrote them, and the sums. */
export const Summary = ({ texts, format, checkout }: View) => {
  const { lines, currency, total, paid, pending, remaining, rates } = checkout;
  const sum = (label: string, amount: string, isShown: boolean) =>
    isShown && (
      <div>
        <dt>{label}</dt>
        <dd>{format.amount(amount, currency)}</dd>
      </div>
    );
  const isPositive = (amount: string) => /[1-9]/.test(amount);
  return (
    <section class="summary" aria-labelledby="summary-title">
      <h2 id="summary-title">{texts.summaryTitle}</h2>
      <ul class="lines">
        {lines.map((line) => (
          <li>
            <Line line={line} format={format} texts={texts} />
            {line.modifiers.length > 0 && (
              <ul>
                {line.modifiers.map((modifier) => (
                  <li>
                    <Line line={modifier} format={format} texts={texts} />
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ul>
      <dl class="sums">
        {rates.map((rate) => (
          <div>
            <dt>{texts.rate(rate.currency, format.amount(rate.rate, currency))}</dt>
          </div>
        ))}
        {sum(texts.total, total, true)}
        {sum(texts.paid, paid, isPositive(paid))}
        {sum(texts.pending, pending, isPositive(pending))}
        {sum(texts.leftToPay, remaining, isPositive(paid) || isPositive(pending))}
      </dl>
    </section>
  );
};

const Line = ({
  line,
  texts,
  format,
}: { readonly line: Omit<CheckoutLine, 'modifiers'> } & Pick<View, 'texts' | 'format'>) => (
  <span class="line">
    <bdi>{line.name}</bdi>
    <span class="quantity">
      {texts.quantity(format.number(line.quantity), format.amount(line.unit_price, line.currency))}
    </span>
    <span class="price">{format.amount(line.price, line.currency)}</span>
  </span>
);
