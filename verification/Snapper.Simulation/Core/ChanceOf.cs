namespace Snapper.Simulation.Core;

/// <summary>
/// What draws chance of its own from a scenario's seed: each has one user, so that no two draw the same numbers. The values are part of what a seed means: they
/// stay as they are, and a new one gets a new number.
/// </summary>
internal enum ChanceOf : ulong
{
    /// <summary>The order of what happens at once.</summary>
    Order = 0,

    /// <summary>Most fields of a scenario.</summary>
    Scenario = 1,

    /// <summary>The log server and the road to it.</summary>
    LogServer = 2,

    /// <summary>Clients and their roads, one each.</summary>
    Client = 3,

    /// <summary>What a client of the lists asks for.</summary>
    Lists = 4,

    /// <summary>What a client of the bank asks for.</summary>
    Bank = 5,

    /// <summary>Small limits of a scenario.</summary>
    Limits = 6,

    /// <summary>Where a scenario's log is, and what happens to it there.</summary>
    StoragePlace = 10,

    /// <summary>The machine and its disk.</summary>
    Machine = 11,

    /// <summary>How many numbers a life has, and where in a minute it begins.</summary>
    Life = 12,

    /// <summary>When a scheduling choice is taken the other way, one each.</summary>
    SchedulingChoice = 13,

    /// <summary>Which scheduling choices a scenario takes the other way.</summary>
    SchedulingChoices = 16,

    /// <summary>What a client of somebody's own actors asks for.</summary>
    OwnWorkload = 17,

    /// <summary>Ids and deadlines of what a client of somebody's own actors asks for.</summary>
    OwnRequests = 18,

    /// <summary>What a scenario of several workers has beside those of one.</summary>
    Cluster = 20,

    /// <summary>The roads between workers.</summary>
    Network = 21,

    /// <summary>The road to what workers share.</summary>
    SharedStore = 22,

    /// <summary>What operators and supervisors do.</summary>
    Operators = 23,

    /// <summary>Faults that last for long, by the bounds of the product, and what clients do meanwhile.</summary>
    LongTimes = 24,

    /// <summary>What operators meet beside that: clocks, answers of a store that has lost something, restarts one after the other, one worker that becomes several.</summary>
    Oddities = 25,

    /// <summary>Whether the store that all share loses its tail, and when.</summary>
    StoreLoss = 26,

    /// <summary>Whether, when and which calls to the log server lead to an older copy, one each.</summary>
    OlderServer = 27,

    /// <summary>
    /// What the store that all share forgets, and whether another server takes its place and loses nothing.
    /// </summary>
    Forgetting = 28,

    /// <summary>Which ended plans the store forgets.</summary>
    ForgottenPlans = 29,

    /// <summary>Where clients of the lists abort because of what they saw, one each.</summary>
    Decisions = 30,

    /// <summary>How often clients of the lists abort so.</summary>
    DecisionShare = 31,

    /// <summary>Where code of values, and unjoined code, misbehaves for clients of the lists, one each.</summary>
    Unruly = 32,

    /// <summary>How often it does.</summary>
    UnrulyShare = 33,

    /// <summary>Whether and when the place of an actor's state is damaged, and which one's.</summary>
    DamagedPlace = 34,

    /// <summary>How much memory a worker's actors have.</summary>
    Room = 35,

    /// <summary>Whether and when places of states of several workers are damaged, and which ones.</summary>
    DamagedPlacesOfSeveral = 36,

    /// <summary>How many callers are known apart.</summary>
    Callers = 37,

    /// <summary>Which requests are sent again under the id that a worker made for them.</summary>
    GeneratedIds = 38,

    /// <summary>When workers are updated to another program, and what moves and dies meanwhile.</summary>
    Updates = 39,
}
