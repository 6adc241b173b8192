import type { reports as en } from '../en/reports.ts';

export const reports: typeof en = {
  title: 'Relatórios',
  period: 'Período',
  periods: {
    today: 'Hoje',
    last_7_days: 'Últimos 7 dias',
    last_30_days: 'Últimos 30 dias',
    this_month: 'Este mês',
    last_month: 'Mês passado',
    own: 'Datas próprias',
  },
  timezone: 'Fuso horário',
  faults: {
    no_days: 'Escolha o primeiro e o último dia.',
    backwards: 'O último dia não pode ser anterior ao primeiro.',
    too_long: 'Um relatório tem no máximo 31 dias.',
    unknown_period: 'Este período não existe. Escolha outro.',
    unknown_timezone: 'Este fuso horário não existe. Escolha outro.',
  },
  totals: 'Totais',
  between: (from, to, timezone) => `De ${from} a ${to}, dias de ${timezone}.`,
  byDay: 'Por dia e moeda',
  note: 'Os pagamentos e suas taxas são do dia em que o pagamento foi visto pela primeira vez; os reembolsos, do dia em que foram registrados ou liquidados. Um reembolso do que foi aplicado reduz o valor aplicado, por isso não é subtraído de novo.',
  payments: 'Pagamentos',
  applied: 'Aplicado',
  refunds: 'Reembolsos',
  refunded: 'Devolvido',
  empty: 'Neste período nenhum pagamento foi aplicado e nada foi devolvido.',
};
