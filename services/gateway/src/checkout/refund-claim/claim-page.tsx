import type { PageAssets } from '../view/assets.ts';
import { renderDocument } from '../view/document.tsx';
import type { Speech } from '../view/language.ts';
import { accentPath } from '../state/page-link.ts';
import { TextWithTime, TransactionHash } from '../view/view.tsx';
import { Address } from '../view/way.tsx';
import type { ClaimStep, ClaimView } from './claim.ts';

interface Props extends Speech {
  readonly claim: ClaimView;
  /** Where the forms go, and where the payer enters an address. */
  readonly actions: { readonly check: string; readonly confirm: string; readonly again: string };
  readonly languageLink: (language: Speech['language']) => string;
  readonly isSandbox: boolean;
  readonly assets: PageAssets;
}

/** The page of a claim link as HTML. It needs no script. */
export const renderClaim = (props: Props): string => {
  const { claim, texts, format, isSandbox } = props;
  const { merchant } = claim;
  const { title, ...claimTexts } = texts.claim;
  const heading = claimTexts.headings[claim.step.name];
  return renderDocument({
    ...props,
    texts: { ...texts, skip: claimTexts.skip },
    title: `${isRefused(claim.step) ? `${claimTexts.refused}: ` : ''}${heading} · ${title(format.amount(claim.amount, claim.currency))}`,
    accentUrl: merchant.accent_color === undefined ? undefined : accentPath(merchant.accent_color),
    isStatic: true,
    reload: null,
    header: (
      <p class="merchant">
        {merchant.logo_url !== undefined && <img class="logo" src={merchant.logo_url} alt="" />}
        <span class="visually-hidden">{claimTexts.from}</span> <bdi>{merchant.display_name}</bdi>
        {isSandbox && <span class="sandbox-mark">{texts.sandbox.mark}</span>}
      </p>
    ),
    children: (
      <main id="payment" class="claim" tabindex={-1}>
        <section class={CLASSES[claim.step.name]}>
          <h1>{heading}</h1>
          <p class="amount">{format.amount(claim.amount, claim.currency)}</p>
          <p class="explanation">{claimTexts.explanations[claim.step.name](merchant.display_name)}</p>
        </section>
        <Step {...props} />
        <Details {...props} />
      </main>
    ),
  });
};

const CLASSES: Record<ClaimStep['name'], string> = {
  enter: 'status',
  confirm: 'status',
  confirmed: 'status good',
  sent: 'status good',
  canceled: 'status bad',
  expired: 'status bad',
};

const isRefused = (step: ClaimStep): boolean => step.name === 'enter' && step.refused !== undefined;

const Step = (props: Props) => {
  const { step } = props.claim;
  switch (step.name) {
    case 'enter':
      return <Enter {...props} refused={step.refused} />;
    case 'confirm':
      return <Confirm {...props} step={step} />;
    case 'confirmed':
    case 'sent':
      return <Recorded {...props} step={step} />;
    case 'canceled':
    case 'expired':
      return null;
  }
};

const Enter = ({
  claim,
  texts,
  actions,
  refused,
}: Props & { readonly refused: Extract<ClaimStep, { name: 'enter' }>['refused'] }) => {
  const { token, network } = claim;
  return (
    <section>
      <form method="post" action={actions.check}>
        <label for="address">{texts.claim.label(token, network.title)}</label>
        {refused && (
          <p id="fault" class="fault" role="alert">
            {texts.claim.faults[refused.fault](token, network.title)}
          </p>
        )}
        <textarea
          id="address"
          name="address"
          rows={3}
          required
          maxlength={256}
          autocomplete="off"
          autocapitalize="none"
          autocorrect="off"
          spellcheck={false}
          aria-invalid={refused ? 'true' : undefined}
          aria-describedby={refused ? 'fault hint' : 'hint'}
        >
          {refused?.address}
        </textarea>
        <p id="hint" class="note">
          {texts.claim.hint(token, network.title)}
        </p>
        <button class="primary">{texts.claim.check}</button>
      </form>
    </section>
  );
};

const Confirm = ({
  claim,
  texts,
  actions,
  step,
}: Props & { readonly step: Extract<ClaimStep, { name: 'confirm' }> }) => (
  <section>
    <form method="post" action={actions.confirm}>
      <p id="your-address">{texts.claim.label(claim.token, claim.network.title)}</p>
      <div role="group" aria-labelledby="your-address" class="entered">
        <Address address={step.destination} />
      </div>
      <p>{texts.claim.compare}</p>
      {!step.hasChecksum && <p class="warning">{texts.claim.noChecksum}</p>}
      <p class="warning">{texts.claim.once}</p>
      <input type="hidden" name="address" value={step.destination} />
      <button class="primary">{texts.claim.confirm}</button>
      <a class="button" href={actions.again}>
        {texts.claim.change}
      </a>
    </form>
  </section>
);

const Recorded = ({
  claim,
  texts,
  step,
}: Props & { readonly step: Extract<ClaimStep, { name: 'confirmed' | 'sent' }> }) => (
  <section>
    <p id="your-address">{texts.claim.label(claim.token, claim.network.title)}</p>
    <div role="group" aria-labelledby="your-address" class="entered">
      <Address address={step.destination} />
    </div>
    {step.name === 'sent' ? (
      <p class="note transaction">
        {texts.transaction} <TransactionHash hash={step.txHash} url={step.txUrl} />
      </p>
    ) : (
      <p class="note">{texts.claim.final}</p>
    )}
  </section>
);

/** What the payer gets, from whom and for what. */
const Details = ({ claim, texts, format }: Props) => {
  const { merchant, token, network, reference, amount, currency, expiresAt, step } = claim;
  const row = (label: string, value: preact.ComponentChildren) => (
    <div>
      <dt>{label}</dt>
      <dd>{value}</dd>
    </div>
  );
  return (
    <section class="summary" aria-labelledby="details-title">
      <h2 id="details-title">{texts.claim.details}</h2>
      <dl class="sums">
        {row(texts.claim.from, <bdi>{merchant.display_name}</bdi>)}
        {row(texts.claim.amount, format.amount(amount, currency))}
        {row(texts.claim.coin, texts.way(token, network.title))}
        {row(texts.reference, <code>{reference}</code>)}
      </dl>
      {network.isTestnet && <p class="note">{texts.testnet}</p>}
      {expiresAt !== undefined && step.name !== 'expired' && (
        <p class="note">
          <TextWithTime text={texts.claim.until} at={expiresAt} format={format} />
        </p>
      )}
    </section>
  );
};
