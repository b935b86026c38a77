namespace Snapper.Protocol;

/// <summary>
/// What the product asks where the protocol leaves a choice: one method for each, true for the other way
/// (<see cref="SchedulingChoice"/> says which). The default is the
/// product's, which always says no; that costs the comparison of a field with null. It is asked per batch, group,
/// request or call, never in a loop over messages.
/// </summary>
/// <param name="policy">Null for the product.</param>
public readonly struct SchedulingPolicy(ISchedulingPolicy? policy)
{
    /// <summary>The product's: no choice is ever taken the other way.</summary>
    public bool IsFixed => policy is null;

    public bool BatchSentLate() => Takes(SchedulingChoice.BatchSentLate);

    public bool BatchOfOne() => Takes(SchedulingChoice.BatchOfOne);

    public bool BatchHeldOpen() => Takes(SchedulingChoice.BatchHeldOpen);

    public bool TokenPassedUnasked() => Takes(SchedulingChoice.TokenPassedUnasked);

    public bool PactTakenForMarked() => Takes(SchedulingChoice.PactTakenForMarked);

    public bool BatchTakenForTooLarge() => Takes(SchedulingChoice.BatchTakenForTooLarge);

    public bool ActHeldAnyway() => Takes(SchedulingChoice.ActHeldAnyway);

    public bool ActNotHeld() => Takes(SchedulingChoice.ActNotHeld);

    public bool ActRepeatedAtOnce() => Takes(SchedulingChoice.ActRepeatedAtOnce);

    public bool ActRepeatedLate() => Takes(SchedulingChoice.ActRepeatedLate);

    public bool CallPosted() => Takes(SchedulingChoice.CallPosted);

    public bool EvictedBeforeUse() => Takes(SchedulingChoice.EvictedBeforeUse);

    public bool DeadlineLooksLate() => Takes(SchedulingChoice.DeadlineLooksLate);

    public bool ArchiveAskedAnyway() => Takes(SchedulingChoice.ArchiveAskedAnyway);

    public bool RequestTakenForTooMany() => Takes(SchedulingChoice.RequestTakenForTooMany);

    public bool GroupOfOne() => Takes(SchedulingChoice.GroupOfOne);

    public bool BarrierAlone() => Takes(SchedulingChoice.BarrierAlone);

    public bool FlushHeld() => Takes(SchedulingChoice.FlushHeld);

    public bool AppendRepeatedAtOnce() => Takes(SchedulingChoice.AppendRepeatedAtOnce);

    public bool FoldedAtOnce() => Takes(SchedulingChoice.FoldedAtOnce);

    public bool FoldedOneByOne() => Takes(SchedulingChoice.FoldedOneByOne);

    public bool NotTrimmed() => Takes(SchedulingChoice.NotTrimmed);

    public bool RecoveryFoldsInParts() => Takes(SchedulingChoice.RecoveryFoldsInParts);

    public bool SentOneByOne() => Takes(SchedulingChoice.SentOneByOne);

    public bool ChannelTakenForFull() => Takes(SchedulingChoice.ChannelTakenForFull);

    public bool VoterAsksAtOnce() => Takes(SchedulingChoice.VoterAsksAtOnce);

    public bool SubBatchesSentLate() => Takes(SchedulingChoice.SubBatchesSentLate);

    private bool Takes(SchedulingChoice choice) => policy is not null && policy.Takes(choice);
}
