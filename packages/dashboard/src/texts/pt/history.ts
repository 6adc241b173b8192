import type { history as en } from '../en/history.ts';

const because = (reason: string | undefined): string => (reason === undefined ? '' : `: ${reason}`);
const isNone = (amount: string | undefined): boolean => amount === undefined || /^[0.]*$/.test(amount);

const sentences: typeof en.sentences = {
  OrderCreated: (f, money, time) =>
    `O pedido foi criado com ${money(f.amount, f.currency)}, a pagar até ${time(f.until)}.`,
  OrderInstructed: () => 'O pagador recebeu endereços para pagar.',
  OrderPaymentReceived: (f, money) =>
    `Um pagamento de ${money(f.amount, f.currency)} foi visto${f.isConfirmed ? ' e é definitivo' : '; espera confirmações'}.`,
  OrderPaymentConfirmed: (f, money) =>
    `O pagamento de ${money(f.amount, f.currency)} é definitivo${f.confirmations === undefined ? '' : `, com ${f.confirmations} confirmações`}.`,
  OrderPaymentBlockChanged: (f, money) =>
    `O pagamento de ${money(f.amount, f.currency)} está agora em outro bloco da rede.`,
  OrderPaymentsApplied: (f, money) =>
    `${money(f.amount, f.currency)} foram aplicados ao pedido${isNone(f.surplus) ? '' : `; sobram ${money(f.surplus, f.currency)}`}${
      f.shortfall === undefined ? '' : `; faltam ${money(f.shortfall, f.currency)}`
    }.`,
  OrderPaymentsOrphaned: (f, money) => `Um pagamento de ${money(f.amount, f.currency)} não contou${because(f.reason)}.`,
  OrderPaymentFailed: (f, money) => `O pagamento de ${money(f.amount, f.currency)} falhou${because(f.reason)}.`,
  OrderPaymentReinstated: (f, money) => `O pagamento de ${money(f.amount, f.currency)} foi visto de novo.`,
  OrderPaymentRefunded: (f, money) => `${money(f.amount, f.currency)} de um pagamento foram devolvidos.`,
  OrderRefunded: (f, money) => `Um reembolso de ${money(f.amount, f.currency)} foi registrado${because(f.reason)}.`,
  OrderPaid: () => 'O pedido está pago.',
  OrderAccepted: (f, money) =>
    `O pedido foi aceito como pago${because(f.reason)}${f.shortfall === undefined ? '' : ` (faltam ${money(f.shortfall, f.currency)})`}.`,
  OrderUpdated: () => 'O pedido foi alterado.',
  OrderRenewed: (f, money, time) =>
    `O pedido recebeu novas taxas: ${money(f.amount, f.currency)}, a pagar até ${time(f.until)}.`,
  OrderTimeAdvanced: (f) => `O relógio do pedido avançou ${f.minutes ?? '?'} minutos.`,
  OrderExpired: () => 'O pedido expirou.',
  OrderCanceled: () => 'O pedido foi cancelado.',
  OrderDeleted: (f) => `O pedido foi apagado${because(f.reason)}.`,
  PaymentReceived: (f, money) => `Um pagamento de ${money(f.amount, f.currency)} foi visto.`,
  PaymentConfirmed: (f) =>
    `O pagamento é definitivo${f.confirmations === undefined ? '' : `, com ${f.confirmations} confirmações`}.`,
  PaymentBlockChanged: () => 'O pagamento está agora em outro bloco da rede.',
  PaymentApplied: (f, money) => `O pagamento conta com ${money(f.amount, f.currency)}.`,
  PaymentOrphaned: (f) => `O pagamento não conta para nenhum pedido${because(f.reason)}.`,
  PaymentFailed: (f) => `O pagamento falhou${because(f.reason)}.`,
  PaymentReinstated: () => 'O pagamento foi visto de novo.',
  PaymentRefunded: (f, money) => `${money(f.amount, f.currency)} do pagamento foram devolvidos.`,
  PaymentAssigned: () => 'O operador atribuiu o pagamento.',
  PaymentRefundRequested: (f, money) =>
    `Um reembolso de ${money(f.amount, f.currency)} espera a transferência${f.network === undefined ? '' : ` em ${f.network}`}.`,
  PaymentRefundAddressed: () => 'O reembolso tem um endereço de destino.',
  PaymentRefundSent: () => 'A transferência do reembolso foi vista.',
  PaymentRefundReopened: () => 'A transferência do reembolso saiu da rede: o reembolso espera de novo.',
  PaymentRefundCanceled: () => 'O reembolso foi cancelado.',
  PaymentRefundClaimIssued: (f, _money, time) =>
    `Foi criado um link para o pagador informar um endereço, válido até ${time(f.until)}.`,
  PaymentRefundClaimed: () => 'O pagador informou um endereço para o reembolso.',
};

export const history: typeof en = {
  title: 'O que aconteceu',
  sentences,
  showAll: 'Todos os eventos',
  by: 'por',
  actors: {
    key: (name) => `chave de API ${name}`,
    user: (name) => `usuário ${name}`,
    service: (name) => (name === 'payments' || name === 'orders' ? 'o gateway' : name),
    operator: (name) => `operador ${name}`,
    provider: (name) => `provedor ${name}`,
    debug: () => 'o sandbox',
  },
  more: 'O histórico é mais longo: estas são as primeiras entradas.',
  asOf: 'Momento:',
  now: 'Agora',
  past: (time) => `Você vê o pedido como era em ${time}.`,
  backToNow: 'Voltar para agora',
  slider: 'Percorrer o histórico do pedido',
};
