const euros = new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' })

export const money = amount => euros.format(amount)
