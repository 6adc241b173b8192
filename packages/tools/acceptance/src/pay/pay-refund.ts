import { setTimeout as sleep } from 'node:timers/promises';
import { Refund, RefundRequest } from '@cpg/contracts';
import { evmAssetOf, pay, PAYER, type RpcCall } from '@cpg/local-chain';
import { type Api, refusalOf } from '../harness/api.ts';
import { LOCAL_NETWORK } from '../harness/chains.ts';
import { PayError } from './pay-error.ts';

const WATCHED_MS = 60_000;
const PAUSE_MS = 250;

/** Sends a requested refund from the wallet of the local chain, as a merchant would from its own, prints each change, and
 *  resolves with the refund when the transfer is final. `to` is the address of the payer, if the refund has none yet. */
export const payRefund = async (
  { api, call, print }: { api: Api; call: RpcCall; print: (line: string) => void },
  { refundId, to }: { refundId: string; to: string | undefined },
): Promise<Refund> => {
  const { refund, amount_units, senders } = await request(api, refundId, to);
  if (!senders.includes(PAYER)) throw new PayError(`declare the wallet of this chain first: ${declaration(refund)}`);
  const { transactionHash } = await pay(call, evmAssetOf(refund.asset!), refund.destination!, BigInt(amount_units));
  print(`sent ${refund.amount} ${refund.currency} to ${refund.destination}`);
  print(`transaction ${transactionHash}`);
  let last = '';
  for (const end = Date.now() + WATCHED_MS; ; await sleep(PAUSE_MS)) {
    const { status } = await read(api, refundId);
    if (status !== last) print(`refund ${refundId}: ${(last = status)}`);
    if (status === 'settled') return read(api, refundId);
    if (Date.now() > end)
      throw new PayError(`the refund is still ${status} after ${WATCHED_MS / 1000} s: see the log lines of payments`);
  }
};

/** The command with which an operator lets the wallet of the local chain prove the refunds of a merchant. */
const declaration = ({ merchant_id }: Refund): string =>
  `npm run admin -- refund-addresses add ${merchant_id} --network ${LOCAL_NETWORK} --address ${PAYER}`;

const request = async (api: Api, refundId: string, destination: string | undefined): Promise<RefundRequest> => {
  const path = `/v1/refunds/${encodeURIComponent(refundId)}/request`;
  const answer = await api.send('POST', path, { body: { ...(destination !== undefined && { destination }) } });
  if (answer.status === 200) return RefundRequest.parse(answer.body);
  throw new PayError(answer.status === 404 ? `there is no refund ${refundId}` : refusalOf(answer).message);
};

const read = async (api: Api, refundId: string): Promise<Refund> =>
  Refund.parse((await api.send('GET', `/v1/refunds/${encodeURIComponent(refundId)}`)).body);
