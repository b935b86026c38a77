using Snapper.Live.Running;

namespace Snapper.Live.Faults;

/// <summary>One fault of a system with one worker.</summary>
/// <param name="system">The victim.</param>
/// <param name="random">All its choices.</param>
/// <param name="brief">Nothing lasts longer than a second or two.</param>
/// <param name="cancellation">The run is over.</param>
internal sealed class Strike(LiveSystem system, Random random, bool brief, CancellationToken cancellation) : Blow(random, brief, cancellation)
{
    public LiveSystem System => system;
}
