import { renderDocument } from './document.tsx';
import { Payments } from './payments.tsx';
import { Summary } from './summary.tsx';
import type { View } from './view.ts';
import { Way } from './way.tsx';

/** The page of an order as HTML. */
export const renderCheckout = (view: View): string => {
  const { checkout, texts, format, link } = view;
  const { merchant, remaining, currency, state } = checkout;
  return renderDocument({
    ...view,
    title: texts.payTitle(format.amount(remaining, currency), withoutControls(merchant.name)),
    reloadSeconds: RELOAD_SECONDS[state] ?? null,
    languageLink: (lang) => link({ lang }),
    header: (
      <p class="merchant">
        <span class="visually-hidden">{texts.payTo}</span> <bdi>{merchant.name}</bdi>
      </p>
    ),
    children: <Main {...view} />,
  });
};

const RELOAD_SECONDS: Partial<Record<View['checkout']['state'], number>> = {
  preparing: 3,
  waiting: 10,
  partially_paid: 10,
  confirming: 10,
  closing: 5,
  reversed: 30,
  expired: 60,
  partially_paid_expired: 60,
};

const Main = (view: View) => {
  const { checkout, texts, format, way, link } = view;
  const { state, ways, currency, remaining, deadline, reference } = checkout;
  return (
    <main
      id="payment"
      data-state={state}
      data-version={view.version}
      data-now={view.now.getTime()}
      data-announcement={texts.headings[state]}
      tabindex={-1}
    >
      <section class="status">
        <h1>{texts.headings[state]}</h1>
        <p>{texts.explanations[state]}</p>
        {ways.length > 0 && (
          <>
            <p class="amount">{format.amount(remaining, currency)}</p>
            <p>
              {texts.until(format.dateTime(deadline))}{' '}
              <time class="countdown" datetime={deadline} data-text={texts.timeLeft('{time}')} hidden></time>
            </p>
          </>
        )}
      </section>
      {way && <Way view={view} way={way} />}
      {!way && ways.length > 0 && (
        <nav aria-labelledby="ways-title">
          <h2 id="ways-title">{texts.chooseWay}</h2>
          <ul class="ways">
            {ways.map(({ network, network_name }) => (
              <li>
                <a class="button primary" href={link({ way: network })}>
                  {texts.payWith(currency, network_name)}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <Payments {...view} />
      <Summary {...view} />
      <footer>
        {texts.reference} <code>{reference}</code>
      </footer>
    </main>
  );
};

/** A title is no element that could isolate them. */
const withoutControls = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '');
