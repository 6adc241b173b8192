import type { WalletTexts } from '../browser/wallet/offer.ts';

/** What a wallet of the browser is asked to pay. */
interface Names {
  readonly currency: string;
  readonly network: string;
}

const en = ({ currency, network }: Names): WalletTexts => ({
  pay: 'Pay with your wallet',
  pay_with: 'Pay with {wallet}',
  connect: 'Your wallet asks whether this page may see your account.',
  network: `Your wallet asks whether to switch to ${network}.`,
  confirm: 'Check the amount and confirm it in your wallet.',
  sent: `Sent. This page shows your payment as soon as ${network} has it. Do not send it again.`,
  transaction: 'Transaction',
  refused: 'You declined it in your wallet. Nothing was sent.',
  busy: 'Your wallet already has an open request. Open the wallet and answer it first.',
  unknown_network: `Your wallet does not know ${network}. Add this network in the wallet and try again. Nothing was sent.`,
  wrong_network: `Your wallet is on another network. Switch it to ${network} and try again. Nothing was sent.`,
  no_account: 'Your wallet showed no account. Unlock it and allow an account for this page. Nothing was sent.',
  not_enough: `This account does not have enough ${currency} on ${network}. Nothing was sent.`,
  unsure: 'Your wallet reported a problem. Before you try again, check there whether a payment was sent.',
  failed: 'Your wallet did not answer this page. Nothing was sent. Try again, or use the QR code.',
});

const es = ({ currency, network }: Names): WalletTexts => ({
  pay: 'Pagar con tu billetera',
  pay_with: 'Pagar con {wallet}',
  connect: 'Tu billetera pregunta si esta página puede ver tu cuenta.',
  network: `Tu billetera pregunta si quieres cambiar a ${network}.`,
  confirm: 'Revisa el importe y confírmalo en tu billetera.',
  sent: `Enviado. Esta página mostrará tu pago en cuanto esté en ${network}. No lo envíes otra vez.`,
  transaction: 'Transacción',
  refused: 'Lo rechazaste en tu billetera. No se envió nada.',
  busy: 'Tu billetera ya tiene una solicitud abierta. Ábrela y respóndela primero.',
  unknown_network: `Tu billetera no conoce ${network}. Agrega esta red en la billetera e inténtalo de nuevo. No se envió nada.`,
  wrong_network: `Tu billetera está en otra red. Cámbiala a ${network} e inténtalo de nuevo. No se envió nada.`,
  no_account:
    'Tu billetera no mostró ninguna cuenta. Desbloquéala y permite una cuenta en esta página. No se envió nada.',
  not_enough: `Esta cuenta no tiene suficiente ${currency} en ${network}. No se envió nada.`,
  unsure: 'Tu billetera informó de un problema. Antes de intentarlo de nuevo, revisa en ella si se envió un pago.',
  failed: 'Tu billetera no respondió a esta página. No se envió nada. Inténtalo de nuevo o usa el código QR.',
});

const pt = ({ currency, network }: Names): WalletTexts => ({
  pay: 'Pagar com a sua carteira',
  pay_with: 'Pagar com {wallet}',
  connect: 'A sua carteira pergunta se esta página pode ver a sua conta.',
  network: `A sua carteira pergunta se deseja mudar para ${network}.`,
  confirm: 'Confira o valor e confirme na sua carteira.',
  sent: `Enviado. Esta página mostrará o seu pagamento assim que ele estiver em ${network}. Não envie outra vez.`,
  transaction: 'Transação',
  refused: 'Você recusou na sua carteira. Nada foi enviado.',
  busy: 'A sua carteira já tem um pedido aberto. Abra a carteira e responda a ele primeiro.',
  unknown_network: `A sua carteira não conhece ${network}. Adicione esta rede na carteira e tente de novo. Nada foi enviado.`,
  wrong_network: `A sua carteira está em outra rede. Mude para ${network} e tente de novo. Nada foi enviado.`,
  no_account:
    'A sua carteira não mostrou nenhuma conta. Desbloqueie-a e permita uma conta nesta página. Nada foi enviado.',
  not_enough: `Esta conta não tem ${currency} suficiente em ${network}. Nada foi enviado.`,
  unsure: 'A sua carteira informou um problema. Antes de tentar de novo, veja nela se um pagamento foi enviado.',
  failed: 'A sua carteira não respondeu a esta página. Nada foi enviado. Tente de novo ou use o código QR.',
});

/** The texts of the script, by language. */
export const WALLET_TEXTS = { en, es, pt };
