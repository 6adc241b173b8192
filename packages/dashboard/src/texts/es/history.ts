import type { history as en } from '../en/history.ts';

const because = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`);
const isNone = (amount: string | undefined): boolean => amount === undefined || /^[0.]*$/.test(amount);

const sentences: typeof en.sentences = {
  OrderCreated: (f, money, time) =>
    `Se creó la orden por ${money(f.amount, f.currency)}, para pagar hasta ${time(f.until)}.`,
  OrderInstructed: () => 'El pagador recibió direcciones para pagar.',
  OrderPaymentReceived: (f, money) =>
    `Se vio un pago de ${money(f.amount, f.currency)}${f.isConfirmed ? ', ya definitivo' : '; espera confirmaciones'}.`,
  OrderPaymentConfirmed: (f, money) =>
    `El pago de ${money(f.amount, f.currency)} es definitivo${f.confirmations === undefined ? '' : `, con ${f.confirmations} confirmaciones`}.`,
  OrderPaymentBlockChanged: (f, money) =>
    `El pago de ${money(f.amount, f.currency)} está ahora en otro bloque de su cadena.`,
  OrderPaymentsApplied: (f, money) =>
    `Se aplicaron ${money(f.amount, f.currency)} a la orden${isNone(f.surplus) ? '' : `; sobran ${money(f.surplus, f.currency)}`}${
      f.shortfall === undefined ? '' : `; faltan ${money(f.shortfall, f.currency)}`
    }.`,
  OrderPaymentsOrphaned: (f, money) => `Un pago de ${money(f.amount, f.currency)} no contó${because(f.reason)}.`,
  OrderPaymentFailed: (f, money) => `El pago de ${money(f.amount, f.currency)} falló${because(f.reason)}.`,
  OrderPaymentReinstated: (f, money) => `El pago de ${money(f.amount, f.currency)} se vio de nuevo.`,
  OrderPaymentRefunded: (f, money) => `Se devolvieron ${money(f.amount, f.currency)} de un pago.`,
  OrderRefunded: (f, money) => `Se registró un reembolso de ${money(f.amount, f.currency)}${because(f.reason)}.`,
  OrderPaid: () => 'La orden está pagada.',
  OrderAccepted: (f, money) =>
    `La orden se aceptó como pagada${because(f.reason)}${f.shortfall === undefined ? '' : ` (faltan ${money(f.shortfall, f.currency)})`}.`,
  OrderUpdated: () => 'La orden se cambió.',
  OrderRenewed: (f, money, time) =>
    `La orden recibió tasas nuevas: ${money(f.amount, f.currency)}, para pagar hasta ${time(f.until)}.`,
  OrderTimeAdvanced: (f) => `El reloj de la orden avanzó ${f.minutes ?? '?'} minutos.`,
  OrderExpired: () => 'La orden venció.',
  OrderCanceled: () => 'La orden se canceló.',
  OrderDeleted: (f) => `La orden se borró${because(f.reason)}.`,
  PaymentReceived: (f, money) => `Se vio un pago de ${money(f.amount, f.currency)}.`,
  PaymentConfirmed: (f) =>
    `El pago es definitivo${f.confirmations === undefined ? '' : `, con ${f.confirmations} confirmaciones`}.`,
  PaymentBlockChanged: () => 'El pago está ahora en otro bloque de su cadena.',
  PaymentApplied: (f, money) => `El pago cuenta con ${money(f.amount, f.currency)}.`,
  PaymentOrphaned: (f) => `El pago no cuenta para ninguna orden${because(f.reason)}.`,
  PaymentFailed: (f) => `El pago falló${because(f.reason)}.`,
  PaymentReinstated: () => 'El pago se vio de nuevo.',
  PaymentRefunded: (f, money) => `Se devolvieron ${money(f.amount, f.currency)} del pago.`,
  PaymentAssigned: () => 'El operador asignó el pago.',
  PaymentRefundRequested: (f, money) =>
    `Un reembolso de ${money(f.amount, f.currency)} espera su transferencia${f.network === undefined ? '' : ` en ${f.network}`}.`,
  PaymentRefundAddressed: () => 'El reembolso tiene una dirección de destino.',
  PaymentRefundSent: () => 'Se vio la transferencia del reembolso.',
  PaymentRefundReopened: () => 'La transferencia del reembolso salió de su cadena: el reembolso espera de nuevo.',
  PaymentRefundCanceled: () => 'El reembolso se canceló.',
  PaymentRefundClaimIssued: (f, _money, time) =>
    `Se creó un enlace para que el pagador indique una dirección, válido hasta ${time(f.until)}.`,
  PaymentRefundClaimed: () => 'El pagador indicó una dirección para el reembolso.',
};

export const history: typeof en = {
  title: 'Qué pasó',
  sentences,
  showAll: 'Todos los eventos',
  by: 'por',
  actors: {
    key: (name) => `clave de API ${name}`,
    user: (name) => `usuario ${name}`,
    service: (name) => (name === 'payments' || name === 'orders' ? 'la pasarela' : name),
    operator: (name) => `operador ${name}`,
    provider: (name) => `proveedor ${name}`,
    debug: () => 'el sandbox',
  },
  more: 'El historial es más largo: estas son sus primeras entradas.',
  asOf: 'Momento:',
  now: 'Ahora',
  past: (time) => `Ves la orden como era el ${time}.`,
  backToNow: 'Volver a ahora',
  slider: 'Recorrer el historial de la orden',
};
