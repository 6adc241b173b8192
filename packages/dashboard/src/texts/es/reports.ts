import type { reports as en } from '../en/reports.ts';

export const reports: typeof en = {
  title: 'Informes',
  period: 'Período',
  periods: {
    today: 'Hoy',
    last_7_days: 'Últimos 7 días',
    last_30_days: 'Últimos 30 días',
    this_month: 'Este mes',
    last_month: 'El mes pasado',
    own: 'Fechas propias',
  },
  timezone: 'Zona horaria',
  faults: {
    no_days: 'Elige el primer día y el último.',
    backwards: 'El último día no puede ser anterior al primero.',
    too_long: 'Un informe tiene 31 días como máximo.',
    unknown_period: 'Este período no existe. Elige otro.',
    unknown_timezone: 'Esta zona horaria no existe. Elige otra.',
  },
  totals: 'Totales',
  between: (from, to, timezone) => `Del ${from} al ${to}, días de ${timezone}.`,
  byDay: 'Por día y moneda',
  note: 'Los pagos y sus comisiones son del día en que el pago se vio por primera vez; los reembolsos, del día en que se registraron o liquidaron. Un reembolso de lo aplicado reduce el monto aplicado, así que no se resta otra vez.',
  payments: 'Pagos',
  applied: 'Aplicado',
  refunds: 'Reembolsos',
  refunded: 'Devuelto',
  empty: 'En este tiempo no se aplicó ningún pago ni se devolvió nada.',
};
