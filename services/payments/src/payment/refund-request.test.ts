import type { PaymentEvent } from '@cpg/contracts';
import { fold } from '@cpg/event-sourcing/decider';
import {
  addressRefund,
  cancelRefund,
  failPayment,
  given,
  paymentApplied,
  paymentFailed,
  paymentOrphaned,
  paymentReceived,
  paymentRefunded,
  REFUND_ID,
  refundAddressed,
  refundCanceled,
  refundOrderPart,
  refundPayment,
  refundReopened,
  refundRequested,
  refundSent,
  refundSettled,
  refundSurplus,
  reopenRefund,
  reportRefund,
  requestRefund,
  requestSurplus,
  SECOND_REFUND_ID,
} from '../testing/jest-payment-events.ts';
import { paymentDecider } from './payment.ts';

const applied = [paymentReceived(), paymentApplied];
const pending = [...applied, refundRequested()];
const addressed = [...pending, refundAddressed];
const sent = [...addressed, refundSent];

describe('RequestRefund', () => {
  test('reserves a part, or all that is left', () => {
    given(...applied)
      .when(requestRefund(4_000n))
      .then(refundRequested('4000'));
    given(paymentReceived(), paymentOrphaned()).when(requestRefund()).then(refundRequested('10000'));
    given(...applied, paymentRefunded('4000', '4000', SECOND_REFUND_ID))
      .when(requestRefund())
      .then(refundRequested('6000'));
  });
  test('reserves the surplus by default, once', () => {
    given(...applied)
      .when(requestSurplus())
      .then(refundRequested('1000'));
    given(...applied)
      .when(requestSurplus(REFUND_ID, { byDefault: true }))
      .then(refundRequested('1000'));
    given(...applied, refundRequested('400'))
      .when(requestSurplus(SECOND_REFUND_ID))
      .then(refundRequested('600', SECOND_REFUND_ID));
    given(...applied, refundRequested('400'))
      .when(refundSurplus(SECOND_REFUND_ID))
      .then(paymentRefunded('600', '600', SECOND_REFUND_ID));
    for (const byDefault of [false, true]) {
      const refusal = byDefault ? 'refund_amount_required' : 'nothing_to_refund';
      const reserved = given(...applied, refundRequested('1000'));
      reserved.when(requestSurplus(SECOND_REFUND_ID, { byDefault })).thenRefused(refusal);
      reserved.when(refundSurplus(SECOND_REFUND_ID, { byDefault })).thenRefused(refusal);
    }
  });
  test('leaves the status of the payment, and what it refunded', () =>
    given(...applied)
      .when(requestRefund())
      .thenState((payment) => expect(payment).toMatchObject({ status: 'applied', refundedMinor: 0n })));
  test('is ignored when it is repeated', () =>
    given(...pending)
      .when(requestRefund())
      .thenNothing());
  test('keeps the reserved amount from every other refund', () => {
    given(...pending)
      .when(requestRefund(6_001n, SECOND_REFUND_ID))
      .thenRefused('refund_too_large');
    given(...pending)
      .when(refundPayment(6_001n, SECOND_REFUND_ID))
      .thenRefused('refund_too_large');
    given(...applied, refundRequested('10000'))
      .when(refundPayment(undefined, SECOND_REFUND_ID))
      .thenRefused('nothing_to_refund');
    given(...pending)
      .when(refundPayment(undefined, SECOND_REFUND_ID))
      .then(paymentRefunded('6000', '6000', SECOND_REFUND_ID));
  });
  test('is named when another refund is too large', () => {
    const payment = fold(paymentDecider, paymentDecider.initial, pending);
    const reserved = ': requested refunds reserve 0.00004000';
    expect(() => paymentDecider.decide(refundPayment(6_001n, SECOND_REFUND_ID), payment)).toThrow(
      `only 0.00006000 BTC of the payment can still be refunded${reserved}`,
    );
    expect(() => paymentDecider.decide(refundOrderPart(6_001n, SECOND_REFUND_ID), payment)).toThrow(
      `can still be refunded${reserved}`,
    );
  });
  test('is named when it reserves all that another refund could take, and not once it is settled', () => {
    const refused = (...events: PaymentEvent[]) => {
      const payment = fold(paymentDecider, paymentDecider.initial, events);
      return expect(() => paymentDecider.decide(refundPayment(undefined, SECOND_REFUND_ID), payment));
    };
    const all = [...applied, refundRequested('10000')];
    refused(...all).toThrow('requested refunds reserve the rest of the payment: cancel a pending one');
    refused(...all, refundAddressed, refundSettled('10000')).toThrow('the payment is already fully refunded');
  });
  test('is refused for a payment that is received or failed', () => {
    given(paymentReceived()).when(requestRefund()).thenRefused('payment_conflict');
    given(paymentReceived(), paymentFailed).when(requestRefund()).thenRefused('payment_conflict');
  });
});

describe('AddressRefund', () => {
  test('sets the destination once', () => {
    given(...pending)
      .when(addressRefund())
      .then(refundAddressed);
    given(...addressed)
      .when(addressRefund())
      .thenNothing();
    given(...addressed)
      .when(addressRefund(undefined, 'tb1qother'))
      .thenRefused('payment_conflict');
  });
  test('is refused once the refund is canceled, and for a refund that is unknown or only recorded', () => {
    given(...pending, refundCanceled)
      .when(addressRefund())
      .thenRefused('payment_conflict');
    given(...pending)
      .when(addressRefund(SECOND_REFUND_ID))
      .thenRefused('not_found');
    given(...applied, paymentRefunded('4000'))
      .when(addressRefund())
      .thenRefused('payment_conflict');
  });
});

describe('ReportRefund', () => {
  test('marks a refund as sent, then as settled', () => {
    given(...addressed)
      .when(reportRefund(false))
      .then(refundSent);
    given(...sent)
      .when(reportRefund(true))
      .then(refundSettled());
  });
  test('records both when its transfer is final at once', () =>
    given(...addressed)
      .when(reportRefund(true))
      .then(refundSent, refundSettled()));
  test('refunds the payment when all of it is settled', () =>
    given(...applied, refundRequested('10000'), refundAddressed)
      .when(reportRefund(true))
      .thenState((payment) => {
        expect(payment).toMatchObject({ status: 'refunded', refundedMinor: 10_000n });
        expect(payment).toMatchObject({ refunds: [{ status: 'settled', txHash: '0x0c' }] });
      }));
  test('is ignored when it is repeated', () => {
    given(...sent)
      .when(reportRefund(false))
      .thenNothing();
    given(...sent, refundSettled())
      .when(reportRefund(true))
      .thenNothing();
  });
  test('ignores a second transfer of a refund that is sent', () =>
    given(...sent)
      .when(reportRefund(true, { transferId: '0x0d:0', txHash: '0x0d' }))
      .thenNothing());
  test('ignores a transfer before the refund has a destination, and after its cancellation', () => {
    given(...pending)
      .when(reportRefund(true))
      .thenNothing();
    given(...addressed, refundCanceled)
      .when(reportRefund(true))
      .thenNothing();
  });
  test('settles nothing while the payment is failed', () =>
    given(...sent, paymentFailed)
      .when(reportRefund(true))
      .thenNothing());
});

describe('ReopenRefund', () => {
  test('makes a sent refund pending again, and another transfer may settle it', () => {
    given(...sent)
      .when(reopenRefund())
      .then(refundReopened);
    given(...sent, refundReopened)
      .when(reportRefund(false))
      .then(refundSent);
  });
  test('takes the transfer from the refund, which nobody can find by it any more', () =>
    given(...sent)
      .when(reopenRefund())
      .thenState((payment) =>
        expect(payment).toMatchObject({ refunds: [{ status: 'pending', transferId: undefined, txHash: undefined }] }),
      ));
  test('ignores another transfer, a repeat and a settled refund', () => {
    given(...sent)
      .when(reopenRefund(undefined, '0x0d:0'))
      .thenNothing();
    given(...sent, refundReopened)
      .when(reopenRefund())
      .thenNothing();
    given(...sent, refundSettled())
      .when(reopenRefund())
      .thenNothing();
  });
});

describe('CancelRefund', () => {
  test('frees the amount of a pending refund', () => {
    given(...addressed)
      .when(cancelRefund())
      .then(refundCanceled);
    given(...addressed, refundCanceled)
      .when(refundPayment(undefined, SECOND_REFUND_ID))
      .then(paymentRefunded('10000', '10000', SECOND_REFUND_ID));
  });
  test('is ignored when it is repeated', () =>
    given(...pending, refundCanceled)
      .when(cancelRefund())
      .thenNothing());
  test('is refused for a refund that states what the merchant paid back', () =>
    given(...applied, paymentRefunded('4000'))
      .when(cancelRefund())
      .thenRefused('payment_conflict'));
  test('is refused once a transfer was seen', () => {
    given(...sent)
      .when(cancelRefund())
      .thenRefused('payment_conflict');
    given(...sent, refundSettled())
      .when(cancelRefund())
      .thenRefused('payment_conflict');
  });
});

test('pending refunds end when their payment fails, and a sent one stays', () => {
  given(...addressed)
    .when(failPayment)
    .then(paymentFailed, refundCanceled);
  given(...sent)
    .when(failPayment)
    .then(paymentFailed);
});
