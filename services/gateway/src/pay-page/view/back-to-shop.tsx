import type { CheckoutState } from '@cpg/contracts';
import type { View } from './view.ts';

/** Where the payer has nothing left to do but wait. */
const DONE: ReadonlySet<CheckoutState> = new Set(['confirming', 'paid']);

/** The link to the return URL after paying, else to the cancel URL. */
export const BackToShop = ({ texts, checkout, redirectsTo, link }: View) => {
  const { state, merchant, return_url, cancel_url } = checkout;
  const url = DONE.has(state) ? return_url : cancel_url;
  if (url === undefined) return null;
  return (
    <p class="back-to-shop">
      {redirectsTo !== null && (
        <span class="note">
          {texts.takenBack(merchant.name)} <a href={link({ watched: undefined })}>{texts.stay}</a>
        </span>
      )}
      <a class={DONE.has(state) ? 'button primary' : 'button'} href={url} target="_top" rel="noreferrer">
        {texts.backTo(merchant.name)}
      </a>
    </p>
  );
};
