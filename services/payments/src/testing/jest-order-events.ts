import type { AssignedInstruction } from '@cpg/contracts';
import { append } from '@cpg/event-sourcing';
import { METADATA } from '@cpg/event-sourcing/testing';
import { newId } from '@cpg/platform';
import type { EventStoreDBClient } from '@eventstore/db-client';
import { MERCHANT } from './jest-fixtures.ts';

const AT = '2026-01-31T12:00:00.000Z';

type Instruction<R extends AssignedInstruction['rail']> = Extract<AssignedInstruction, { rail: R }>;

export const deposit = (address: string, index = 0, network = 'ethereum-sepolia'): Instruction<'crypto_deposit'> => ({
  rail: 'crypto_deposit',
  currency: 'USDC',
  network,
  chainId: 'eip155:11155111',
  asset: 'eip155:11155111/erc20:0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238',
  address,
  decimals: 6,
  currencyDecimals: 6,
  requiredConfirmations: 12,
  derivation: { fingerprint: 'f00dcafe', path: `0/${index}` },
});

export const page = (reference: string): Instruction<'gateway_pay'> => ({
  rail: 'gateway_pay',
  currency: 'USDC',
  provider: 'sandbox',
  paymentReference: reference,
  paymentUrl: `http://127.0.0.1:4000/pay/${reference}`,
});

/** A payment page with an address of its own. */
export const hostedPage = (reference: string, address: string, index = 0): Instruction<'gateway_pay'> => {
  const { rail: _, currency: __, ...behind } = deposit(address, index);
  return { ...page(reference), deposits: [behind] };
};

/** Records events on streams of orders and accounts, with the parts that payments reads. */
export const orderEvents = (client: EventStoreDBClient) => {
  const record = async (stream: string, type: string, data: object, revision = -1, more: object = {}) => {
    const recorded = {
      id: newId('event'),
      event: { type, data: { at: AT, ...data } },
      metadata: { ...METADATA, ...more },
    };
    expect(await append(client, stream, [recorded], revision)).toBe('appended');
  };
  return {
    record,
    created: (orderId: string, instructions?: AssignedInstruction[]) =>
      record(`order-${orderId}`, 'OrderCreated', {
        orderId,
        merchantId: MERCHANT,
        externalReferenceId: 'cart-1',
        instructions,
      }),
    instructed: (orderId: string, instructions: AssignedInstruction[]) =>
      record(
        `order-${orderId}`,
        'OrderInstructed',
        { instructions, status: 'awaiting_payment', reason: 'instructions_ready' },
        0,
      ),
    deleted: async (
      orderId: string,
      payables: AssignedInstruction[],
      { at = AT, failedPaymentIds }: { at?: string; failedPaymentIds?: string[] } = {},
    ) => {
      const data = {
        orderId,
        merchantId: MERCHANT,
        actor: 'a',
        lastHash: '',
        sequence: 1,
        payables,
        paymentIds: [],
        at,
        ...(failedPaymentIds && { failedPaymentIds }),
      };
      await record(`deletion-${orderId}`, 'OrderDeletionRecorded', data);
      await client.tombstoneStream(`order-${orderId}`, { expectedRevision: 'any' });
    },
    reserved: (account: string, first: number, count: number, revision = -1, again: number[] = []) =>
      record(`account-${account}`, 'DerivationIndexesReserved', { account, first, count, again }, revision),
  };
};
