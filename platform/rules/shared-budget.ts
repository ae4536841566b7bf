/**
 * A shared budget, such as memory. A user can take at most as much as remains for others, so a single user gets half of
 * the total, and several greedy users get equal parts. Something always remains for a user who has taken nothing.
 */
export class SharedBudget {
  readonly #total: number
  readonly #taken = new Map<string, number>()
  #sum = 0

  constructor(total: number) {
    this.#total = total
  }

  /** Sum of all amounts that are taken. */
  get taken(): number {
    return this.#sum
  }

  /** Takes an amount for a user. Returns false, without taking anything, if it exceeds the user's share. */
  take(who: string, amount: number): boolean {
    const own = (this.#taken.get(who) ?? 0) + amount
    if (own > this.#total - this.#sum - amount) return false
    this.#set(who, own, amount)
    return true
  }

  /** Gives back an amount that was taken for a user. */
  give(who: string, amount: number): void {
    this.#set(who, (this.#taken.get(who) ?? 0) - amount, -amount)
  }

  #set(who: string, own: number, change: number): void {
    this.#sum += change
    if (own > 0) this.#taken.set(who, own)
    else this.#taken.delete(who)
  }
}
