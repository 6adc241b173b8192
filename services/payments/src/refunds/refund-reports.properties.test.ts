import { fold } from '@cpg/event-sourcing/decider';
import { createLogger } from '@cpg/platform';
import fc from 'fast-check';
import type { SeenTransfer } from '../chains/reading/seen-transfer.ts';
import type { PaymentCommand } from '../payment/command.ts';
import { paymentDecider } from '../payment/payment.ts';
import { type ExistingPayment, exists, type Payment, type PaymentRefund } from '../payment/state.ts';
import { bitcoinAssets } from '../testing/jest-bitcoin.ts';
import { CHANGED_AT, receivePayment, recordApplied } from '../testing/jest-payment-events.ts';
import { refundReports } from './refund-reports.ts';
import type { RefundRow } from './refund-rows.ts';

const { assets } = bitcoinAssets();
const asset = assets[0]!.id;
const NETWORK = 'bitcoin-local';
const WALLET = 'bcrt1qwallet';
const PAYER = 'bcrt1qpayer';
const ADDRESSED_AT = 100;
const REFUNDS = 3;

/** Payments with one refund each, and read models that may be older than their events. */
const ledger = (amounts: readonly bigint[]) => {
  const payments = amounts.map((amountMinor, n): Payment => {
    const request = { refundId: `rfd_${n}`, amountMinor, network: NETWORK, asset, at: CHANGED_AT };
    const commands: PaymentCommand[] = [
      receivePayment({ paymentId: `pay_${n}` }),
      recordApplied,
      { type: 'RequestRefund', ...request },
    ];
    return commands.reduce<Payment>(
      (payment, command) => fold(paymentDecider, payment, paymentDecider.decide(command, payment)),
      paymentDecider.initial,
    );
  });
  const existing = (n: number) => payments[n] as ExistingPayment;
  const rows = new Map<string, RefundRow>();
  let dies = false;
  const project = (n: number): void => {
    const { paymentId, decimals, refunds } = existing(n);
    for (const { refundId: id, amountMinor, network, asset: sent, destination, senders, ...refund } of refunds)
      rows.set(id, {
        ...{ id, paymentId, amountMinor, decimals, network: network!, asset: sent!, destination: destination ?? null },
        ...{
          senders: senders ?? [],
          afterHeight: refund.afterHeight ?? 0,
          transferId: refund.transferId ?? null,
          isClaimOnPage: false,
        },
        resource: { status: refund.status } as RefundRow['resource'],
      });
  };
  const change = async (paymentId: string, command: PaymentCommand): Promise<ExistingPayment> => {
    const n = Number(paymentId.slice('pay_'.length));
    const payment = payments[n]!;
    payments[n] = fold(paymentDecider, payment, paymentDecider.decide(command, payment));
    if (dies) {
      dies = false;
      throw new Error('the process died before it wrote the row');
    }
    project(n);
    return existing(n);
  };
  amounts.forEach((_, n) => project(n));
  return {
    change,
    refunds: (): PaymentRefund[] => payments.flatMap((payment) => (exists(payment) ? payment.refunds : [])),
    dieAtNextWrite: () => void (dies = true),
    catchUp: () => amounts.forEach((_, n) => project(n)),
    report: refundReports({
      network: NETWORK,
      assets,
      refundsTo: async (address) => [...rows.values()].filter(({ destination }) => destination === address),
      findPayment: async (paymentId) => existing(Number(paymentId.slice('pay_'.length))),
      spendsFrom: async ({ spends }, addresses) => spends.some((output) => addresses.includes(output.split(':')[0]!)),
      changeRefund: async (paymentId, command) => change(paymentId, command),
      now: () => CHANGED_AT,
      log: createLogger({ name: 'refunds', level: 'silent' }),
    }),
  };
};

interface Output {
  readonly txHash: string;
  readonly vout: number;
  readonly units: bigint;
  readonly isOwn: boolean;
  readonly height: number;
}

/** An output of a transaction that may pay many refunds. */
const transferOf = ({ txHash, vout, units, isOwn, height }: Output): SeenTransfer => ({
  id: `${txHash}:${vout}`,
  txHash,
  address: PAYER,
  asset,
  units,
  spends: ['bcrt1qother:0', `${isOwn ? WALLET : 'bcrt1qstranger'}:1`],
  seenAt: CHANGED_AT,
  block: { height, hash: `block ${height}` },
  lostHash: null,
  seen: { isShown: true, readings: 2, shownBy: [1], missedBy: [] },
  ...{ lostAt: null, vanishedAt: null, conflictAt: null, replacedBy: null },
  ...{ required: 2, reported: null, pending: null, failure: null },
});

const anyAmount = fc.constantFrom(1_000n, 1_000n, 2_000n);
const anyOutputs = fc.array(
  fc.record({ units: anyAmount, isOwn: fc.constantFrom(true, true, false), height: fc.constantFrom(99, 101, 101) }),
  { minLength: 1, maxLength: 3 },
);
const anyRefund = fc.nat(REFUNDS - 1);
const anyStep = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('report' as const), output: fc.nat(2), isFinal: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), output: fc.nat(2) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('address' as const), refund: anyRefund }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), refund: anyRefund }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('die' as const, 'catch up' as const) }) },
);

test('an output pays at most one refund, a refund takes one output, and it is what the refund asked for', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyAmount, { minLength: REFUNDS, maxLength: REFUNDS }),
      anyOutputs,
      fc.array(anyStep, { minLength: 5, maxLength: 25 }),
      async (amounts, given, steps) => {
        const outputs = given.map((each, n) => ({ ...each, txHash: `tx${n % 2}`, vout: n }));
        const book = ledger(amounts);
        let before = book.refunds();
        for (const step of steps) {
          const isDone = await take(step, book, outputs).then(
            () => true,
            () => false,
          );
          const refunds = book.refunds();
          expect(faultsOf(refunds, outputs, before)).toEqual([]);
          const lost = step.do === 'lose' && isDone ? idOf(outputs[step.output % outputs.length]!) : null;
          if (refunds.some(({ status, transferId }) => status === 'sent' && transferId === lost))
            throw new Error(`${lost} left the chain, and its refund is not pending`);
          before = refunds;
        }
      },
    ),
    { numRuns: 200 },
  );
});

const idOf = ({ txHash, vout }: Output): string => `${txHash}:${vout}`;

const faultsOf = (
  refunds: readonly PaymentRefund[],
  outputs: readonly Output[],
  before: readonly PaymentRefund[],
): string[] => {
  const taken = refunds.flatMap(({ transferId }) => transferId ?? []);
  return [
    ...(new Set(taken).size < taken.length ? ['an output pays two refunds'] : []),
    ...refunds.flatMap(({ transferId, amountMinor }, n) => {
      const output = outputs.find((each) => idOf(each) === transferId);
      const wasSettled = before[n]!.status === 'settled';
      return [
        ...(transferId !== undefined && !output?.isOwn ? ['a refund took the money of a stranger'] : []),
        ...(output && output.units !== amountMinor ? ['a refund took another amount'] : []),
        ...(output && output.height <= ADDRESSED_AT ? ['a refund took older money'] : []),
        ...(wasSettled && before[n]!.transferId !== transferId ? ['a settled refund changed'] : []),
      ];
    }),
  ];
};

test('a transfer that paid a refund before a death pays no older refund after it', async () => {
  const book = ledger([1_000n, 1_000n]);
  const outputs = [{ txHash: 'tx', vout: 0, units: 1_000n, isOwn: true, height: 101 }];
  const report = { do: 'report', output: 0, isFinal: false } as const;
  await take({ do: 'address', refund: 1 }, book, []);
  book.dieAtNextWrite();
  await expect(take(report, book, outputs)).rejects.toThrow(/died/);
  await take({ do: 'address', refund: 0 }, book, []);
  await take(report, book, outputs);
  expect(book.refunds()).toMatchObject([{ status: 'pending' }, { status: 'sent', transferId: 'tx:0' }]);
});

test('every refund is settled by a batch with an output for each, in any order and with deaths between', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyAmount, { minLength: REFUNDS, maxLength: REFUNDS }),
      fc.array(fc.record({ output: fc.nat(REFUNDS - 1), dies: fc.boolean(), isFinal: fc.boolean() }), {
        maxLength: 20,
      }),
      async (amounts, reports) => {
        const book = ledger(amounts);
        for (let refund = 0; refund < REFUNDS; refund += 1) await take({ do: 'address', refund }, book, []);
        const outputs = amounts
          .toReversed()
          .map((units, vout) => ({ txHash: 'batch', vout, units, isOwn: true, height: 101 }));
        for (const { output, dies, isFinal } of reports) {
          if (dies) book.dieAtNextWrite();
          await take({ do: 'report', output, isFinal }, book, outputs).catch(() => {});
        }
        // Reports are made again after a death, in the order of the outputs.
        for (let output = 0; output < REFUNDS; output += 1)
          for (let attempt = 0; attempt < 2; attempt += 1)
            await take({ do: 'report', output, isFinal: true }, book, outputs).catch(() => {});
        expect(book.refunds()).toMatchObject(amounts.map(() => ({ status: 'settled' })));
        expect(new Set(book.refunds().map(({ transferId }) => transferId)).size).toBe(REFUNDS);
      },
    ),
    { numRuns: 50 },
  );
});

type Step = typeof anyStep extends fc.Arbitrary<infer T> ? T : never;

const take = async (step: Step, book: ReturnType<typeof ledger>, outputs: readonly Output[]): Promise<unknown> => {
  switch (step.do) {
    case 'report':
    case 'lose': {
      const transfer = transferOf(outputs[step.output % outputs.length]!);
      if (step.do === 'lose') return book.report({ ...transfer, block: null }, { status: 'received', block: null }, {});
      const status = step.isFinal ? 'confirmed' : 'received';
      return book.report(transfer, { status, block: transfer.block!.hash }, {});
    }
    case 'address': {
      const addressed = { destination: PAYER, senders: [WALLET], afterHeight: ADDRESSED_AT, at: CHANGED_AT };
      return book.change(`pay_${step.refund}`, { type: 'AddressRefund', refundId: `rfd_${step.refund}`, ...addressed });
    }
    case 'cancel':
      return book.change(`pay_${step.refund}`, {
        type: 'CancelRefund',
        refundId: `rfd_${step.refund}`,
        at: CHANGED_AT,
      });
    case 'die':
      return book.dieAtNextWrite();
    case 'catch up':
      return book.catchUp();
  }
};

test('a transfer that replaces one that leaves the chain pays the refund, whichever is reported first', async () => {
  for (const isNewFirst of [false, true]) {
    const book = ledger([1_000n]);
    await take({ do: 'address', refund: 0 }, book, []);
    const outputs = ['old', 'new'].map((txHash) => ({ txHash, vout: 0, units: 1_000n, isOwn: true, height: 101 }));
    await take({ do: 'report', output: 0, isFinal: false }, book, outputs);
    if (isNewFirst)
      expect(await take({ do: 'report', output: 1, isFinal: true }, book, outputs)).toMatchObject({
        status: 'received',
      });
    await take({ do: 'lose', output: 0 }, book, outputs);
    await take({ do: 'report', output: 1, isFinal: true }, book, outputs);
    expect(book.refunds()).toMatchObject([{ status: 'settled', txHash: 'new' }]);
    expect(await take({ do: 'report', output: 0, isFinal: true }, book, outputs)).toMatchObject({ status: 'ignored' });
  }
});
