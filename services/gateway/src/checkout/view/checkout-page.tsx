import type { Checkout, CheckoutState } from '@cpg/contracts';
import { renderDocument } from './document.tsx';
import { Payments } from './payments.tsx';
import { headingOf, isSettled, Status } from './status.tsx';
import { Receipt, Summary } from './summary.tsx';
import { isPositive, type View } from './view.tsx';
import { Way } from './way.tsx';
import { choiceLink } from '../state/page-link.ts';
import { ADVANCE_MINUTES, type SandboxAction, type Strip } from '../sandbox/actions.ts';

/** The page of an order as HTML. */
export const renderCheckout = (view: View): string => {
  const { checkout, texts, link } = view;
  const { merchant, state } = checkout;
  const reloadSeconds = RELOAD_SECONDS[state];
  return renderDocument({
    ...view,
    title: titleOf(view),
    accentUrl: merchant.accent_url,
    reload: reloadSeconds === undefined ? null : { seconds: reloadSeconds, url: link({}) },
    languageLink: (lang) => link({ lang }),
    header: (
      <p class="merchant">
        {merchant.logo_url !== undefined && <img class="logo" src={merchant.logo_url} alt="" />}
        <span class="visually-hidden">{texts.payTo}</span> <bdi>{merchant.name}</bdi>
        {view.strip && <span class="sandbox-mark">{texts.sandbox.mark}</span>}
      </p>
    ),
    children: <Main {...view} />,
  });
};

const titleOf = (view: View): string => {
  const { checkout, texts, format } = view;
  const { merchant, remaining, currency, ways } = checkout;
  const name = withoutControls(merchant.name);
  return ways.length > 0 ? texts.payTitle(format.amount(remaining, currency), name) : `${headingOf(view)} · ${name}`;
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
  const { checkout, texts, format, way, link, strip } = view;
  const { state, ways, currency, reference } = checkout;
  return (
    <main
      id="payment"
      data-state={state}
      data-version={view.version}
      data-now={view.now.getTime()}
      data-locale={format.locale}
      data-announcement={announcementOf(view)}
      data-return-url={redirectUrl(checkout)}
      tabindex={-1}
    >
      <Status {...view} />
      <RefundClaims {...view} />
      <section id="sent" data-sent-texts={JSON.stringify(texts.sentByWallet)} hidden></section>
      {way && <Way view={view} way={way} />}
      {!way && ways.length > 0 && (
        <nav aria-labelledby="ways-title">
          <h2 id="ways-title">{texts.chooseWay}</h2>
          <ul class="ways">
            {ways.map(({ network, network_name, asset_label = currency }) => (
              <li>
                <a class="button primary" href={link({ way: network })}>
                  {texts.payWith(asset_label, network_name)}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      )}
      <BackToShop {...view} />
      <Receipt {...view} />
      <Payments {...view} />
      <Summary {...view} />
      {state !== 'paid' && (
        <p class="reference">
          {texts.reference}: <code>{reference}</code>
        </p>
      )}
      {strip && <SandboxStrip view={view} strip={strip} />}
    </main>
  );
};

/** The links on which the payer enters an address for a refund. */
const RefundClaims = (view: View) => {
  const { checkout, texts, format, language } = view;
  return checkout.refund_claims.map((claim) => (
    <section class="refund-claim">
      <p>
        {texts.claim.offered(format.amount(claim.amount, claim.currency))}
        {relationOf(claim, view)}
      </p>
      <a class="button primary" href={`${claim.path}${choiceLink({ lang: language })}`}>
        {texts.claim.open}
      </a>
    </section>
  ));
};

/** A sentence on how the amount of a claim relates to the sum that is due back; empty if nothing is. */
const relationOf = (claim: Checkout['refund_claims'][number], { checkout, texts, format }: View): string => {
  const { currency, due_back: dueBack } = checkout;
  if (claim.currency !== currency || !isPositive(dueBack)) return '';
  const [due, part] = [format.amount(dueBack, currency), format.amount(claim.of_due_back, currency)];
  const [isAllDue, isAllOfClaim] = [claim.of_due_back === dueBack, claim.of_due_back === claim.amount];
  if (!isPositive(claim.of_due_back)) return ` ${texts.claim.besidesDue(due)}`;
  if (isAllOfClaim) return ` ${isAllDue ? texts.claim.isAllDue : texts.claim.isPartOfDue(due)}`;
  return ` ${isAllDue ? texts.claim.includesDue(due) : texts.claim.includesPartOfDue(part, due)}`;
};

/** What a screen reader says when the page has changed. */
const announcementOf = (view: View): string => {
  const { checkout, texts, format } = view;
  const { ways, remaining, currency } = checkout;
  const heading = headingOf(view);
  return ways.length === 0 ? heading : `${heading}. ${texts.leftToPay}: ${format.amount(remaining, currency)}`;
};

/** A title is no element that could isolate them. */
const withoutControls = (text: string): string => text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, '');

/** Where the payer has nothing left to do but wait. */
const DONE: ReadonlySet<CheckoutState> = new Set(['confirming', 'paid']);

/** Where the script takes a payer who watched the payment; nowhere while something is left to settle. */
const redirectUrl = (checkout: Checkout): string | undefined =>
  checkout.state === 'paid' && isSettled(checkout) ? checkout.return_url : undefined;

/** The link to the return URL after paying, else to the cancel URL. */
const BackToShop = ({ texts, checkout }: View) => {
  const { state, merchant, return_url, cancel_url } = checkout;
  const url = DONE.has(state) ? return_url : cancel_url;
  if (url === undefined) return null;
  return (
    <p class="back-to-shop">
      {redirectUrl(checkout) !== undefined && (
        <span class="redirect" data-redirect hidden>
          <span>
            {texts.takenBack(merchant.name)} <span data-client="seconds"></span>.
          </span>
          <button type="button" data-stay>
            {texts.stay}
          </button>
        </span>
      )}
      <a class={DONE.has(state) ? 'button primary' : 'button'} href={url} target="_top" rel="noreferrer">
        {texts.backTo(merchant.name)}
      </a>
    </p>
  );
};

/** Marks a page of a sandbox, and pays its order without money. */
const SandboxStrip = ({ view, strip }: { readonly view: View; readonly strip: Strip }) => {
  const { texts, format, link } = view;
  const { sandbox } = texts;
  const post = (action: string, label: string, way = view.way?.network) => {
    const [path, query] = link({ way }).split('?');
    return (
      <button formaction={`${path}/sandbox/${action}${query ? `?${query}` : ''}`} data-action={action}>
        {label}
      </button>
    );
  };
  const { walletNetwork } = strip;
  const labelOf = (action: SandboxAction) =>
    action === 'advance' ? sandbox.advance(format.minutes(ADVANCE_MINUTES)) : sandbox.actions[action];
  const buttons = [
    ...(walletNetwork === null ? [] : [post('wallet', sandbox.wallet, walletNetwork)]),
    ...strip.actions.map((action) => post(action, labelOf(action))),
  ];
  // The mark beside the merchant's name stays.
  if (buttons.length === 0) return null;
  return (
    <aside class="sandbox" aria-labelledby="sandbox-title">
      <h2 id="sandbox-title">{sandbox.title}</h2>
      {strip.actions.length > 0 && <p class="note">{sandbox.hint}</p>}
      <form method="post" action={link({})}>
        {buttons}
      </form>
    </aside>
  );
};
