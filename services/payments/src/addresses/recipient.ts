import { checksummed, isEvmAddress, type Network } from '@cpg/assets';
import { type AddressFault, invalidRequest } from '@cpg/contracts';
import { BITCOIN_ADDRESSES } from './deposit-network.ts';

/** What is wrong with an address, as a code and as a text to read after the name of a field. */
export class RefusedAddress extends RangeError {
  readonly fault: AddressFault;
  constructor(fault: AddressFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** An address that can receive money on the network, in its canonical form. Throws RefusedAddress. */
export const recipientOn = (network: Network, text: string): string =>
  network.kind === 'evm' ? evmRecipient(network, text) : bitcoinRecipient(network, text);

/** What `parse` makes of the text of a field. Turns its RangeError into `invalid_request` that names the field, without a
 *  cause: a decoder may quote its input, which can be a secret. */
export const parsedField = <T>(path: string, text: string, parse: (text: string) => T): T => {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw invalidRequest([{ path, message: error.message }]);
  }
};

/** The id of a transaction on the network, in lower case. Throws RangeError, like `recipientOn`. */
export const transactionOn = ({ kind, name }: Network, text: string): string => {
  const form = kind === 'evm' ? /^0x[0-9a-f]{64}$/i : /^[0-9a-f]{64}$/i;
  if (form.test(text)) return text.toLowerCase();
  throw new RangeError(
    `is not a transaction on ${name}: it must be ${kind === 'evm' ? '0x and ' : ''}64 hexadecimal digits`,
  );
};

const evmRecipient = ({ name }: Network, text: string): string => {
  if (!isEvmAddress(text)) {
    const other = bitcoinChainOf(text);
    if (other) throw ofOtherNetwork(BITCOIN_NAMES[other], name);
    throw new RefusedAddress('form', `is not an address on ${name}: it must be 0x and 40 hexadecimal digits`);
  }
  const digits = text.slice(2);
  if (/^0+$/.test(digits)) throw new RefusedAddress('zero', 'is the zero address: money that is sent there is lost');
  const address = checksummed(digits);
  if (text !== address && isMixedCase(digits))
    throw new RefusedAddress(
      'checksum',
      'has a wrong checksum: copy the address again, with its upper-case and lower-case letters',
    );
  return address;
};

/** Whether a wrong character in an address of the network would have been noticed. */
export const hasChecksum = ({ kind }: Network, text: string): boolean =>
  kind === 'bitcoin' || isMixedCase(text.slice(2));

/** EIP-55: digits of one case have no checksum. */
const isMixedCase = (digits: string): boolean => digits !== digits.toLowerCase() && digits !== digits.toUpperCase();

const bitcoinRecipient = ({ name, chain }: Extract<Network, { kind: 'bitcoin' }>, text: string): string => {
  if (isBitcoinAddress(chain, text)) return /^(?:bc|tb|bcrt)1/i.test(text) ? text.toLowerCase() : text;
  const other = bitcoinChainOf(text);
  const otherName = other ? BITCOIN_NAMES[other] : isEvmAddress(text) ? 'an EVM chain' : undefined;
  if (otherName) throw ofOtherNetwork(otherName, `${name} (${BITCOIN_NAMES[chain]})`);
  throw new RefusedAddress('form', `is not an address on ${name}: its checksum or its form is wrong`);
};

const ofOtherNetwork = (other: string, network: string): RefusedAddress =>
  new RefusedAddress('other_network', `is an address on ${other}, but the network is ${network}`);

const BITCOIN_NAMES = { main: 'Bitcoin', test: 'a Bitcoin testnet', regtest: 'a Bitcoin regtest' };

const bitcoinChainOf = (text: string) =>
  (['main', 'test', 'regtest'] as const).find((each) => isBitcoinAddress(each, text));

const isBitcoinAddress = (chain: keyof typeof BITCOIN_ADDRESSES, text: string): boolean => {
  try {
    BITCOIN_ADDRESSES[chain].decode(text);
    return true;
  } catch {
    return false;
  }
};
