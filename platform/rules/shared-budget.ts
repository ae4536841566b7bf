/**
 * A budget that many share, such as memory. Nobody takes more than they leave to others: alone somebody gets
 * half of it, and beside others who take all that they get, as much as each of them. So there is always
 * some left for who has taken nothing.
 */
export class SharedBudget {
  readonly #total: number
  readonly #taken = new Map<string, number>()
  #sum = 0

  constructor(total: number) {
    this.#total = total
  }

  /** What all have taken together. */
  get taken(): number {
    return this.#sum
  }

  /** Takes an amount for somebody; false when that is more than their share, and nothing is taken. */
  take(who: string, amount: number): boolean {
    const own = (this.#taken.get(who) ?? 0) + amount
    if (own > this.#total - this.#sum - amount) return false
    this.#set(who, own, amount)
    return true
  }

  /** Gives back what was taken. */
  give(who: string, amount: number): void {
    this.#set(who, (this.#taken.get(who) ?? 0) - amount, -amount)
  }

  #set(who: string, own: number, change: number): void {
    this.#sum += change
    if (own > 0) this.#taken.set(who, own)
    else this.#taken.delete(who)
  }
}
