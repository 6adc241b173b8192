import { tokenContract } from '@cpg/assets';
import type { Checkout, WayToPay } from '@cpg/contracts';
import encodeQR from 'qr';
import { SUMMARY } from '../state/page-link.ts';
import { walletTransfer } from '../state/ways.ts';
import type { View } from './view.tsx';

/** How to pay on one network: the QR code, the exact amount and the address. */
export const Way = ({ view, way }: { readonly view: View; readonly way: WayToPay }) => {
  const { texts, format, checkout, link } = view;
  const amount = format.amount(way.amount, checkout.currency);
  const token = tokenOf(checkout, way);
  return (
    <section class="way" aria-labelledby="way-title" data-way={way.network}>
      <h2 id="way-title">{texts.way(token, way.network_name)}</h2>
      <p class="warning">{texts.onlyThisNetwork(token, way.network_name)}</p>
      {way.not_tokens?.map((other) => (
        <p class="warning">{texts.otherToken(other, token)}</p>
      ))}
      {way.is_testnet && <p class="note">{texts.testnet}</p>}
      <BrowserWallet view={view} way={way} />
      <div class="code">
        <Codes view={view} way={way} />
        <a class="button primary" href={way.payment_uri} data-open-wallet>
          {texts.openWallet}
        </a>
      </div>
      <dl class="transfer">
        <dt>{texts.exactAmount}</dt>
        <dd>
          <span class="value">{amount}</span>
          <Copy content={trimmed(way.amount)} label={texts.copyAmount} done={texts.copied} />
        </dd>
        <dt>{texts.toAddress}</dt>
        <dd>
          <Address address={way.address} />
          <Copy content={way.address} label={texts.copyAddress} done={texts.copied} />
        </dd>
        <dd class="note">{way.chain_id.startsWith('eip155:') ? texts.addressHintEvm : texts.addressHint}</dd>
      </dl>
      <ul class="rules">
        <li>{confirmationsOf(view, way)}</li>
        <li>{checkout.rules.partial_payments ? texts.ifLessPartial : texts.ifLessHeld}</li>
        <li>{checkout.rules.can_overpay ? texts.ifMoreKept : texts.ifMoreReturned}</li>
        <li>{texts.networkFee}</li>
      </ul>
      <OtherWays view={view} way={way} />
      <a href={link({ way: SUMMARY })}>{texts.back}</a>
    </section>
  );
};

/** Some wallets read the amount from a QR code; others read the first address of it, which is the contract of a
 *  token. */
const Codes = ({ view, way }: { readonly view: View; readonly way: WayToPay }) => {
  const { texts, format, checkout } = view;
  const amount = format.amount(way.amount, checkout.currency);
  const withAmount = <QrCode content={way.payment_uri} label={texts.qr(amount, way.network_name)} />;
  // Every wallet of Bitcoin reads BIP 21.
  if (!way.chain_id.startsWith('eip155:'))
    return (
      <>
        {withAmount}
        <p class="scan">{texts.scan}</p>
      </>
    );
  const token = tokenOf(checkout, way);
  const contract = tokenContract(way.asset);
  const choice = (name: 'address' | 'amount', label: string, isDefault: boolean) => (
    <>
      <input class="visually-hidden" type="radio" name="code" id={`code-${name}`} value={name} checked={isDefault} />
      <label for={`code-${name}`}>{label}</label>
    </>
  );
  const [before, after] = texts.notTheContract('{contract}', token).split('{contract}');
  return (
    <>
      <fieldset class="codes" data-codes={contract ? 'token' : 'coin'}>
        <legend class="visually-hidden">{texts.codes}</legend>
        {choice('address', texts.codeOfAddress, contract !== null)}
        {choice('amount', texts.codeWithAmount, contract === null)}
        <div class="window">
          {withAmount}
          <QrCode content={way.address} label={texts.qrOfAddress(way.network_name)} />
        </div>
        <p class="scan">{texts.scanAddress(token, way.network_name, amount)}</p>
        <p class="scan">{texts.scanAmount}</p>
      </fieldset>
      {contract && (
        <p class="warning">
          {before}
          <code class="contract">{contract}</code>
          {after}
        </p>
      )}
    </>
  );
};

/** What to send, as wallets name it. */
const tokenOf = ({ currency }: Checkout, { asset_label = currency }: WayToPay): string => asset_label;

const confirmationsOf = ({ texts, format }: View, { required_confirmations: count, minutes }: WayToPay): string => {
  const one = texts.confirmationNeeded(format.number(count));
  const needed = format.plural(count, { one, other: texts.confirmationsNeeded(format.number(count)) });
  return minutes === null ? `${needed}.` : `${needed}, ${texts.about(format.minutes(minutes))}.`;
};

/** Filled and shown by the script where the browser has a wallet. */
const BrowserWallet = ({ view, way }: { readonly view: View; readonly way: WayToPay }) => {
  const transfer = walletTransfer(way);
  if (!transfer) return null;
  const texts = view.texts.wallet(tokenOf(view.checkout, way), way.network_name);
  return (
    <div
      class="browser-wallet"
      data-wallet={JSON.stringify({ ...transfer, ...(way.explorer && { explorer: way.explorer }) })}
      data-amount={way.amount}
      data-wallet-texts={JSON.stringify(texts)}
      hidden
    ></div>
  );
};

const OtherWays = ({ view, way }: { readonly view: View; readonly way: WayToPay }) => {
  const { texts, checkout, link } = view;
  const others = checkout.ways.filter(({ network }) => network !== way.network);
  if (others.length === 0) return null;
  return (
    <nav aria-label={texts.otherWays}>
      <ul class="ways">
        {others.map((other) => (
          <li>
            <a href={link({ way: other.network })}>{texts.way(tokenOf(checkout, other), other.network_name)}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
};

/** A button that the script shows and serves. */
const Copy = ({
  content,
  label,
  done,
}: {
  readonly content: string;
  readonly label: string;
  readonly done: string;
}) => (
  <button type="button" class="copy" data-copy={content} data-copied={done} hidden>
    {label}
  </button>
);

/** One text, so that it is selected and copied as a whole. The style sheet shows groups. */
export const Address = ({ address }: { readonly address: string }) => (
  <code class="address">
    <span>{address}</span>
  </code>
);

/** As wallets take it: with a decimal point, and without zeros at the end. */
const trimmed = (amount: string): string =>
  amount.includes('.') ? amount.replace(/(?<!0)0+$/, '').replace(/\.$/, '') : amount;

// The quiet zone that ISO/IEC 18004 asks for, in modules.
const QUIET = 4;

/** A QR code, dark on white in both color schemes because scanners need it. */
const QrCode = ({ content, label }: { readonly content: string; readonly label: string }) => {
  const modules = encodeQR(content, 'raw', { ecc: 'medium', border: QUIET });
  const size = modules.length;
  return (
    <svg class="qr" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={pathOf(modules)} fill="#000" />
    </svg>
  );
};

/** One rectangle for each run of dark modules in a row. */
const pathOf = (modules: readonly (readonly boolean[])[]): string =>
  modules.flatMap((row, y) => runsOf(row).map(([x, length]) => `M${x} ${y}h${length}v1h-${length}z`)).join('');

const runsOf = (row: readonly boolean[]): [start: number, length: number][] => {
  const runs: [number, number][] = [];
  row.forEach((isDark, x) => {
    const last = runs.at(-1);
    if (isDark && last && last[0] + last[1] === x) last[1] += 1;
    else if (isDark) runs.push([x, 1]);
  });
  return runs;
};
