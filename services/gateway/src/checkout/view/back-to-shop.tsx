import type { Checkout, CheckoutState } from '@cpg/contracts';
import { isSettled } from './status.tsx';
import type { View } from './view.ts';

/** Where the payer has nothing left to do but wait. */
const DONE: ReadonlySet<CheckoutState> = new Set(['confirming', 'paid']);

/** Where the script takes a payer who watched the payment; nowhere while something is left to settle. */
export const redirectUrl = (checkout: Checkout): string | undefined =>
  checkout.state === 'paid' && isSettled(checkout) ? checkout.return_url : undefined;

/** The link to the return URL after paying, else to the cancel URL. */
export const BackToShop = ({ texts, checkout }: View) => {
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
