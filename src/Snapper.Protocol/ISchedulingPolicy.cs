namespace Snapper.Protocol;

/// <summary>Decides where the protocol leaves a choice. The product has none: its <see cref="SchedulingPolicy"/> is
/// the default one.</summary>
public interface ISchedulingPolicy
{
    /// <summary>True: take the other way. It is asked only where that way can be taken, so that an answer of yes
    /// counts as taken.</summary>
    bool Takes(SchedulingChoice choice);
}
